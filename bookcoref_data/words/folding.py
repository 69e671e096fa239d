"""Names as they are compared: without case, accents and punctuation."""

import re
import unicodedata


def fold(name: str) -> str:
    """A name for comparison: no accents, no case, other punctuation to spaces ("O’Brien" -> "obrien")."""
    plain = unicodedata.normalize("NFKD", name.replace("’", "'"))
    plain = "".join(c for c in plain if not unicodedata.combining(c)).lower().replace("'", "")
    return " ".join(re.findall(r"[^\W_]+", plain))


def letters_of(text: str) -> str:
    """Letters and digits alone, in lower case: what two ways to print one name or heading have in common."""
    return "".join(filter(str.isalnum, text.casefold()))
