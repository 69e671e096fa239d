"""The prompts of IdentifyMe and the form of the answer (section 7)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import UsageError
from ..runner import Request

INSTRUCTION = (
    "Read the text given below. The text has an entity mention marked within "
    '""" {{mention}} (#This is the marked mention) """. Extract the mention and find who/what the mention '
    "refers to in the text."
)
_NONE_RULE = (
    'You may select "None of the Above" if the mention does not refer to any other entity/option. Do not '
    "add any other text. Answer in this form:"
)
_EXPLANATIONS = {
    "base": None,
    "desc": "<explain the choice in 1-2 sentences>",
    "coref": "<explain the choice in 1-2 sentences, with cues from the coreference chains>",
}
VARIANTS = tuple(_EXPLANATIONS)
REFERS = "The mention refers to:"
_PLAIN = r"[A-Za-z ,'.]"


def prompt_of(question: Mapping[str, Any], variant: str = "desc") -> str:
    """The prompt for one row of a question file: instruction, text, options, form of the answer.

    The order and the instruction are the published ones; the wording of the form is ours.

    Raises:
        UsageError: an unknown variant.
    """
    explanation = explanation_of(variant)
    form = ["- Mention: {{<the marked mention>}}"]
    form += [f"- Explanation: {explanation}"] if explanation else []
    form.append(f"- {REFERS} <one of the options>")
    return "\n".join(
        [
            f"Instruction: {INSTRUCTION}", "", f"Text: {question['text']}", "",
            "Options for the answer:", *question["options"], "", _NONE_RULE, *form,
        ]
    )  # fmt: skip


def explanation_of(variant: str) -> str | None:
    """What a variant asks for between mention and answer. Raises UsageError for an unknown one."""
    if variant not in _EXPLANATIONS:
        raise UsageError(f"there is no prompt variant {variant!r}", expected=", ".join(VARIANTS))
    return _EXPLANATIONS[variant]


def answer_pattern(options: Sequence[str], variant: str = "desc") -> str:
    """A regular expression that whole answers match, for servers with constrained decoding.

    As in the public code, but the options are escaped.
    """
    explanation = f"- Explanation: {_PLAIN}{{150,350}}\\.\\n" if explanation_of(variant) else ""
    choice = "|".join(re.escape(option) for option in options)
    return f"- Mention: \\{{\\{{{_PLAIN}{{1,125}}\\}}\\}}\\n{explanation}- {REFERS} ({choice})"


def request_of(question: Mapping[str, Any], variant: str = "desc") -> Request:
    """What a model is asked for one row of a question file."""
    options = tuple(question["options"])
    return Request(
        key=str(question["id"]), prompt=prompt_of(question, variant),
        pattern=answer_pattern(options, variant), choices=options,
        lead=f"- Mention: {{{{{question['mention']}}}}}\n- {REFERS} ",
    )  # fmt: skip


def answer_in(reply: str) -> str:
    """The answer in a reply: the text after the last "The mention refers to:", asterisks removed."""
    _, found, after = reply.rpartition(REFERS)
    text = (after if found else "").replace("*", "").strip()
    return text.split("\n")[0].strip()


def mention_in(reply: str) -> str:
    """The mention that a reply quotes after "Mention:", braces and asterisks removed."""
    match = re.search(r"Mention:\**\s*(.*)", reply)
    return re.sub(r"[{}*]", "", match[1]).strip() if match else ""
