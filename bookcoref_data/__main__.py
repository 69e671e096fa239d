"""`python -m bookcoref_data`: the command line, where its own command is not on the path."""

from .cli import main

if __name__ == "__main__":
    main()
