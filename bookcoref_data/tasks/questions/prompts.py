"""The prompts of IdentifyMe and the form of the answer (section 7)."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ...errors import require_choice
from ...resources import load_toml, resource
from ..runner.run import Request

VARIANTS = ("base", "desc", "coref")
WORDINGS = ("ours", "published")
REFERS = "The mention refers to:"
_PLAIN = r"[A-Za-z ,'.]"


@cache
def _words() -> dict[str, Any]:
    """The words of `manifests/prompts.toml`."""
    words: dict[str, Any] = load_toml(resource("manifests", "prompts.toml"))["identifyme"]
    return words


def prompt_of(question: Mapping[str, Any], variant: str = "desc", wording: str = "ours") -> str:
    """The prompt for one row of a question file: instruction, text, options, form of the answer.

    The order and the instruction are the published ones; the wording of the form is ours, or that of the
    public code, which has a system message before it. Raises UsageError: an unknown variant or wording.
    """
    require_choice("wording", wording, WORDINGS)
    explanation, words = explanation_of(variant), _words()
    options = "\n".join(["Options for the answer:", *question["options"]])
    if wording == "published":
        rule = words["published"]["rule"].format(words["published"][variant])
        form = ["- Mention:", *(["- Explanation:"] if explanation else []), f"- {REFERS}"]
        heads = f"Instruction:\n{words['instruction']}", f"Text:\n{question['text']}"
    else:
        rule = words["ours"]["rule"]
        form = ["- Mention: {{<the marked mention>}}", f"- {REFERS} <one of the options>"]
        form[1:1] = [f"- Explanation: {explanation}"] if explanation else []
        heads = f"Instruction: {words['instruction']}", f"Text: {question['text']}"
    return "\n\n".join([*heads, options, "\n".join([rule, *form])])


def explanation_of(variant: str) -> str:
    """What a variant asks for between mention and answer. Raises UsageError for an unknown one."""
    require_choice("prompt variant", variant, VARIANTS)
    return str(_words()["ours"][variant])


def answer_pattern(options: Sequence[str], variant: str = "desc") -> str:
    """A regular expression that whole answers match, for servers with constrained decoding.

    As in the public code, but the options are escaped.
    """
    explanation = f"- Explanation: {_PLAIN}{{150,350}}\\.\\n" if explanation_of(variant) else ""
    choice = "|".join(re.escape(option) for option in options)
    return f"- Mention: \\{{\\{{{_PLAIN}{{1,125}}\\}}\\}}\\n{explanation}- {REFERS} ({choice})"


def request_of(question: Mapping[str, Any], variant: str = "desc", wording: str = "ours") -> Request:
    """What a model is asked for one row of a question file. Raises UsageError for an unknown wording."""
    options = tuple(question["options"])
    return Request(
        key=str(question["id"]), prompt=prompt_of(question, variant, wording),
        pattern=answer_pattern(options, variant), choices=options,
        system=_words()["system"] if wording == "published" else "",
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
