"""Texts of study guides as data: descriptions, analyses, summaries, and who is masked in a description.

`texts` holds what guides say and puts it into splits, `masking` hides a name, `identification` builds and
grades LiSCU's task. Fetching and reading pages is the work of `workflows/guide_texts`.
"""
