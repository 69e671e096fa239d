"""The embedded backend: a dependency parse, rules for names and quotes, small rankers in numpy."""
