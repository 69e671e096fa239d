"""One module per group of verbs; each has `register(app: typer.Typer) -> None`."""
