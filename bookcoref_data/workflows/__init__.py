"""Verbs that join rooms: harvest, rebuild, verify, annotate. A module is imported when it is first used."""

from ..late import modules_of

__getattr__ = modules_of(__name__)
