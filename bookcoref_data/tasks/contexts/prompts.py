"""The prompts of BookWorm: one character, several characters jointly, merging of chunk-wise answers."""

from collections.abc import Sequence

from ...errors import require_choice

_WORDS = {
    "description": ("Describe character: {}", "descriptions", "description"),
    "analysis": ("Analyse in-depth character: {}", "analyses", "analysis"),
}
KINDS = tuple(_WORDS)
JOINT_SIZE = 5
"""Characters in one joint prompt, when all at once do not fit."""


def prompt_of(character: str, context: str, kind: str = "description") -> str:
    """The published prompt for one character.

    Without a context the prompt is its first words alone. Raises UsageError: an unknown kind.
    """
    about = _words(kind)[0].format(character)
    return f"{about} given the following context.\n\nContext: {context}" if context else f"{about}."


def joint_prompt(characters: Sequence[str], context: str, kind: str = "description") -> str:
    """One prompt for several characters. Its wording is ours: the published one was not in the text read."""
    listed = "\n".join(f"- {name}" for name in characters)
    action = "Describe" if kind == "description" else "Analyse in-depth"
    _words(kind)
    return (
        f"{action} each of the following characters in turn, given the following context. Begin each answer "
        f'with a line "### NAME".\n{listed}\nContext: {context}'
    )


def merge_prompt(character: str, texts: Sequence[str], kind: str = "description") -> str:
    """The published prompt that merges the answers for the chunks of a book."""
    about, many, one = _words(kind)
    joined = "\n\n".join(texts)
    head = f"{about.format(character)} by merging the following {many} into a single {one}."
    return f"{head}\n\n{many.capitalize()}:\n{joined}\n"


def split_joint(reply: str, characters: Sequence[str]) -> dict[str, str]:
    """The answers for single characters in the reply to a joint prompt; characters it lacks are left out."""
    found: dict[str, str] = {}
    name = ""
    lines: list[str] = []
    known = {c.casefold(): c for c in characters}
    for line in [*reply.splitlines(), "### "]:
        if line.startswith("#"):
            if name and (text := "\n".join(lines).strip()):
                found[name] = text
            name, lines = known.get(line.lstrip("#").strip().strip("*").casefold(), ""), []
        else:
            lines.append(line)
    return found


def _words(kind: str) -> tuple[str, str, str]:
    require_choice("kind", kind, KINDS)
    return _WORDS[kind]
