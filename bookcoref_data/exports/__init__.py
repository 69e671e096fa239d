"""Annotated books as tables, networks, TEI, web annotations, and files of other tools."""

from .targets import TARGETS, export

__all__ = ["TARGETS", "export"]
