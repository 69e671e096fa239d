"""Cast lists: harvest tables, names and aliases, matching to Gutenberg."""
