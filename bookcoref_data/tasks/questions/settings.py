"""The settings of a question set, read from a recipe (`recipes/identifyme.toml`)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...resources import load_toml, resource
from ...shapes import AsFields, check, settings_of

RECIPE = "identifyme.toml"


@dataclass(frozen=True, slots=True)
class QuestionSettings(AsFields):
    """Everything that decides which questions are made.

    `fuzzy_limit` and `net_distractor_limit` with `limits_included`: a nominal is kept up to the first, a
    pronoun from the second on, the limit itself only if included. `longest_mention` is in characters, 0 for
    no limit. `test`, `dev` and `draw` are numbers of questions per data set and category. `bands` are
    limits of the evidence distance in tokens; none means the published kind of questions.
    `passage_margin`: tokens before the evidence and after the mention in a passage of a whole book, which is
    left out where it is longer than `longest_text` tokens. `least_options` and `most_options` count phrases
    besides "None of the Above". 0 is no limit.

    For a release: `checked`: options never name one person twice. `questions`: so many in all, each checked
    by rules, evenly from bands and books, `apart` tokens from each other, and only about mentions that our
    annotator finds again with the probability `least`. It answers `judged` of them, from the passage alone.
    """

    fuzzy_limit: int = 75
    fuzzy_limit_included: bool = True
    net_distractor_limit: int = 1
    longest_mention: int = 125
    plural_pronouns: bool = False
    least_tokens: int = 1000
    most_unlabelled: float = 0.5
    least_mentions: int = 3
    untyped: str = "table"
    none_share: float = 0.1
    test: int = 300
    dev: int = 150
    draws: int = 10
    draw: int = 150
    seed: int = 0
    bands: tuple[int, ...] = ()
    band_size: int = 50
    passage_margin: int = 100
    longest_text: int = 0
    least_options: int = 0
    most_options: int = 0
    checked: bool = False
    questions: int = 0
    apart: int = 0
    judged: int = 0
    least: float = 0.0

    def __post_init__(self) -> None:
        problems = [
            ("untyped", self.untyped in ("table", "rules"), "table or rules"),
            ("none_share", 0 <= self.none_share < 1, "from 0 to below 1"),
            ("most_unlabelled", 0 <= self.most_unlabelled <= 1, "from 0 to 1"),
            ("least", 0 <= self.least <= 1, "from 0 to 1"),
            ("bands", list(self.bands) == sorted({*self.bands}) and all(b > 0 for b in self.bands),
             "increasing token counts"),
            *((name, getattr(self, name) >= 0, "0 or more") for name in
              ("test", "dev", "draws", "draw", "band_size", "passage_margin", "least_tokens", "longest_text",
               "least_options", "most_options", "questions", "apart", "judged")),
            ("most_options", not self.most_options or self.most_options >= max(2, self.least_options),
             "2 or more, and no fewer than least_options"),
        ]  # fmt: skip
        for name, sound, expected in problems:
            if not sound:
                what = f"questions: the setting {name} cannot be right"
                raise UsageError(what, expected=expected, found=getattr(self, name))


def read_settings(variant: str, recipe: Path | None = None, **changes: Any) -> QuestionSettings:
    """The settings of a variant in a recipe ("repo", "paper", "books"), with `changes` on top.

    Changes that are None are left out. Raises UsageError for an unknown variant or setting.
    """
    path = recipe or resource("recipes", RECIPE)
    value = load_toml(path)
    check(value, "question_recipe", str(path), UsageError)
    variants = value.get("variants", {})
    if variant not in variants:
        what = f"{path} has no variant {variant!r}"
        hint = "add a table [variants." + variant + "]"
        raise UsageError(what, expected="one of " + ", ".join(variants), hint=hint)
    merged = {**value.get("settings", {}), **variants[variant]}
    merged |= {name: change for name, change in changes.items() if change is not None}
    return settings_of(QuestionSettings, merged, str(path))
