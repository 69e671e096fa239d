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
WORDINGS = ("ours", "published")
SYSTEM_MESSAGE = (
    "You are a question answering system. "
    "You have to answer the following question based on the given context."
)
_PUBLISHED_RULE = (
    "Note that you can select the None of the Above option (The mention refers to: None of the Above), "
    "if the mention does not refer to any other entity/option. {}Do not produce any other extra text.\n"
    "Follow the below format:"
)
_PUBLISHED_EXPLANATIONS = {
    "base": "",
    "desc": "Also provide explanations in 1-2 sentences for the same. ",
    "coref": "Also provide explanations in 1-2 sentences by taking cues from coreference chains that lead to "
             "the mention. ",
}  # fmt: skip
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


def published_prompt(question: Mapping[str, Any], variant: str = "desc") -> str:
    """The prompt for one row in the wording of the public code, which has `SYSTEM_MESSAGE` before it."""
    lines = ["- Mention:", f"- {REFERS}"]
    if explanation_of(variant):
        lines.insert(1, "- Explanation:")
    parts = (
        f"Instruction:\n{INSTRUCTION}", f"Text:\n{question['text']}",
        "\n".join(["Options for the answer:", *question["options"]]),
        "\n".join([_PUBLISHED_RULE.format(_PUBLISHED_EXPLANATIONS[variant]), *lines]),
    )  # fmt: skip
    return "\n\n".join(parts)


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


def request_of(question: Mapping[str, Any], variant: str = "desc", wording: str = "ours") -> Request:
    """What a model is asked for one row of a question file. Raises UsageError for an unknown wording."""
    if wording not in WORDINGS:
        raise UsageError(f"there is no wording {wording!r}", expected=" or ".join(WORDINGS))
    published = wording == "published"
    options = tuple(question["options"])
    return Request(
        key=str(question["id"]), prompt=(published_prompt if published else prompt_of)(question, variant),
        pattern=answer_pattern(options, variant), choices=options,
        system=SYSTEM_MESSAGE if published else "",
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
