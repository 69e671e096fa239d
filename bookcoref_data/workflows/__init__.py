"""Verbs that join rooms: harvest, rebuild, verify, annotate."""
