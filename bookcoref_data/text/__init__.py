"""Gutenberg file to body to sentences of tokens; nothing is lost silently. Pure."""
