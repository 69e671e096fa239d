"""What a book is: mentions, characters, books, windows. Pure: values in, values out."""

from .book import Book, Character, Mention, Record
from .windows import Window, cut_windows, read_window_key, split_book, split_by_rule, window_key

__all__ = [
    "Book", "Character", "Mention", "Record", "Window", "cut_windows", "read_window_key", "split_book",
    "split_by_rule", "window_key",
]  # fmt: skip
