"""Placeholder while the builder is written."""
