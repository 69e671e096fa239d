"""Pages and plots that a person looks at. A module is imported when it is first used."""

from ..late import modules_of

__getattr__ = modules_of(__name__)
