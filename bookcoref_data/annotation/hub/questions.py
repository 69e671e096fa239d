"""The question that the filter asks about one link (paper, Table 5): excerpt, mention, character."""

from collections.abc import Sequence
from string import Template

from ...books import Mention
from ...books.book import text_of
from ...errors import UsageError

FIELDS = ("book", "mention", "character")


def excerpt(tokens: Sequence[str], mention: Mention, words: int) -> str:
    """`words` tokens around a mention, which stands in square brackets; line ends are left out.

    The mention is in the middle; at the ends of the book the excerpt is shifted, so that it is as long.
    A mention longer than `words` is given whole.
    """
    inside = mention.end - mention.start + 1
    room = max(words - inside, 0)
    start = max(0, min(mention.start - room // 2, len(tokens) - max(words, inside)))
    end = max(min(len(tokens), start + words), mention.end + 1)
    before, behind = text_of(tokens, start, mention.start - 1), text_of(tokens, mention.end + 1, end - 1)
    return " ".join(filter(None, (before, f"[{text_of(tokens, *mention)}]", behind)))


def question(template: str, tokens: Sequence[str], mention: Mention, character: str, words: int) -> str:
    """The whole question. Raises UsageError for a template with unknown or missing fields."""
    fields = {
        "book": excerpt(tokens, mention, words),
        "mention": text_of(tokens, *mention),
        "character": character,
    }
    try:
        return Template(template).substitute(fields)
    except (KeyError, ValueError) as error:
        what = "the recipe's filter.question has a field that is not known"
        raise UsageError(what, expected=", ".join(f"${name}" for name in FIELDS), found=str(error)) from error


def check_template(template: str) -> None:
    """Refuse a template that leaves a field out, before any model is loaded. Raises UsageError."""
    question(template, ["word"], Mention(0, 0), "name", 1)
    missing = [name for name in FIELDS if f"${name}" not in template and f"${{{name}}}" not in template]
    if missing:
        what = "the recipe's filter.question leaves something out"
        raise UsageError(what, expected=", ".join(f"${name}" for name in FIELDS), found=f"no ${missing[0]}")
