"""Offsets onto text: the official delta, our pack, alignment and remapping with a report. Pure."""
