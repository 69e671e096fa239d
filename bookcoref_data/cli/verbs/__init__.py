"""One module per panel of `--help`; a verb is a function marked with `@verb` (`cli/declared.py`)."""
