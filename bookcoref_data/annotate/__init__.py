"""The annotation pipeline: link, filter, expand in windows, expand in groups."""
