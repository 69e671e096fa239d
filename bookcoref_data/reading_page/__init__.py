"""The reading room: one self-contained page that shows an annotated book and takes corrections."""

from .compare import Difference, Differences, compare
from .page import PageOptions, render

__all__ = ["Difference", "Differences", "PageOptions", "compare", "render"]
