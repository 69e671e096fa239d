"""Coreference and linking scores, modes, breakdowns, significance. Pure."""
