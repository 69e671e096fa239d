"""What a book is: mentions, characters, books, windows. Pure: values in, values out."""

from .book import Book, Character, Mention, Record
from .windows import Window, cut_windows, split_book, window_key

__all__ = ["Book", "Character", "Mention", "Record", "Window", "cut_windows", "split_book", "window_key"]
