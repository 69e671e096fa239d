"""The embedded sample: a story of our own, its characters marked by hand, and the release made of them.

`mirror/` and `release/` are generated from `tests/sample_story/story.marked.txt` and `cast.toml` by
`python tests/sample_story/regenerate.py` and committed: a rebuild of the sample reads files, exactly like a
rebuild of the real data set.
"""
