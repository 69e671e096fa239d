"""What is published of a data set and how it describes itself: rights, card, citation, Croissant, leaks.

Nothing here opens a connection; `workflows.publish` joins this room with the texts and the Hub.
"""
