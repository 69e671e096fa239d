"""The annotation pipeline: link, filter, expand in windows, expand in groups.

`steps` is the contract that every backend keeps; `backends` finds one by name; `plan` reads recipes.
"""
