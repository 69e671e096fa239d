"""PreCo: one document a line, `id`, `sentences`, `mention_clusters` of [sentence, first token, end)."""

import json
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from ...books import Mention, Record
from ...errors import FormatError
from ..conversion_report import ConversionReport
from ..lines import read_lines
from .reading import Found, Tokenise, files_below, going_on, split_of


def read(path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """The documents of train and dev. Ends are exclusive in the files, and count within the sentence.

    A broken line is left out; a file that begins with one is no file of PreCo and is left out whole.
    """
    for file in files_below(path, ".json", ".jsonl"):
        sound = False
        for number, line in going_on(enumerate(read_lines(file), 1), report):
            place = f"{file}:{number}"
            for record in going_on(_records(line, place), report):
                sound = True
                yield Found(split_of(file, path), record)
            if not sound:
                break


def _records(line: str, place: str) -> Iterator[Record]:
    """The document of a line; none of an empty one."""
    if line.strip():
        try:
            value = json.loads(line)
            sentences, clusters = value["sentences"], value["mention_clusters"]
            first = [0, *accumulate(map(len, sentences))]
            moved: list[list[Mention]] = []
            for cluster in clusters:
                moved.append([Mention(first[s] + start, first[s] + end - 1) for s, start, end in cluster])
                for s, start, end in cluster:
                    if not 0 <= start < end <= len(sentences[s]) or s < 0:
                        raise ValueError(f"the mention {[s, start, end]} is not in its sentence")
            right = all(type(token) is str for sentence in sentences for token in sentence)
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
            raise _fault(place, f"{type(error).__name__}: {error}") from error
        if not right:
            raise _fault(place, "a token that is no text")
        yield Record(str(value.get("id", place)), "", sentences, moved, source=place)


def _fault(place: str, found: str) -> FormatError:
    return FormatError(
        f"{place}: the line is no document of PreCo",
        expected='{"id", "sentences", "mention_clusters": [[[sentence, first token, end], ...], ...]}',
        found=found[:120],
    )
