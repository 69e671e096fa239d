"""`contexts`: passages about characters of annotated books, prompts, answers, scores, published tables.

OUT/default/contexts.jsonl   one row per book, character and strategy (per chunk for "chunks")
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from ..books import Book
from ..errors import DataError, UsageError, require_choice
from ..formats import read_documents
from ..progress import Progress, begun
from ..resources import load_toml, resource
from ..shapes import attributes, check, together
from ..tasks.contexts import passages
from ..tasks.contexts import scores as measure
from ..tasks.contexts.passages import FEATURES, STRATEGIES, Context, Retriever
from ..tasks.contexts.prompts import JOINT_SIZE, KINDS, joint_prompt, merge_prompt, prompt_of, split_joint
from ..tasks.contexts.scores import mean_scores
from ..tasks.contexts.splits import keep_length
from ..tasks.folder import TaskFolder, read_rows, write_task_folder
from ..tasks.guides.texts import named_in
from ..tasks.runner.run import AskedModel, Request
from ..text.tokens import sentence_spans
from .judged_scores import Compared

Rows = list[dict[str, Any]]
Character = tuple[str, str]
"""A document key and a name."""
Answers = dict[Character, str]
COMPARED = ("coref", "bm25", "lead", "random")
BASELINE = "baseline "
NOTES = ("Texts and annotations keep the licences of the books they come from.",)


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """The recipe in force; `baseline_sentences` and `least_words` by kind of text."""

    strategies: tuple[str, ...]
    budget: int
    chunk_budget: int
    seed: int
    baseline_sentences: dict[str, int]
    least_words: dict[str, int]
    strictly: bool
    tokens: str
    sampling: dict[str, Any]
    prompts: dict[str, str]
    truncate: bool = False

    def to_dict(self) -> dict[str, Any]:
        return attributes(self, "strategies budget chunk_budget seed truncate")


def read_plan(
    path: Path | None = None, strategies: Sequence[str] = (), budget: int | None = None,
    seed: int | None = None, truncate: bool = False,
) -> ContextPlan:  # fmt: skip
    """The recipe in `path` or the one that ships, with changes on top."""
    source = path or resource("recipes", "bookworm.toml")
    value = load_toml(source)
    check(value, "context_recipe", str(source), UsageError)
    made, filters = value["contexts"], value["filters"]
    shipped = load_toml(resource("recipes", "bookworm.toml"))
    plan = ContextPlan(
        tuple(strategies or made["strategies"]), budget or made["budget"], budget or made["chunk_budget"],
        made["seed"] if seed is None else seed, {kind: value["baselines"][kind] for kind in KINDS},
        {kind: filters[kind] for kind in KINDS}, filters["strictly"], filters["tokens"],
        shipped["sampling"] | value.get("sampling", {}), shipped["prompts"] | value.get("prompts", {}),
        truncate,
    )  # fmt: skip
    for strategy in plan.strategies:
        require_choice("strategy", strategy, STRATEGIES)
    uses = [("--seed", seed is not None, ["random"]), ("--truncate", truncate, ["coref", "bm25"])]
    for option, given, needed in uses:
        if given and not {*needed}.intersection(plan.strategies):
            wanted = f"--strategy {' or '.join(needed)}"
            raise UsageError(f"{option} does nothing without {wanted}", found=", ".join(plan.strategies))
    return plan


def read_books(path: Path, format: str | None = None) -> list[Book]:
    """The annotated books of a file or folder. Raises UsageError when none names a character."""
    books = [record.to_book() for record in read_documents(path, format)]
    if not any(book.characters for book in books):
        hint = "annotate them first: bookcoref-data annotate"
        raise UsageError(f"{path} names no character", expected="books with characters", hint=hint)
    return books


def build(
    books: Sequence[Book], plan: ContextPlan, *, characters: Sequence[str] = (), kind: str = "description",
    joint: bool = False, progress: Progress | None = None,
) -> Rows:  # fmt: skip
    """One row per context: where its pieces lie, their text, and the prompt that asks about it.

    `joint` makes one context and prompt for up to five characters, whose shares of the budget are equal.
    """
    rows: Rows = []
    with begun(progress, "contexts", sum(len(b.characters) for b in books), "characters") as advance:
        for book, strategy in product((b for b in books if b.characters), plan.strategies):
            names = list(characters) or [c.name for c in book.characters]
            budget = plan.chunk_budget if strategy == "chunks" else plan.budget
            size = JOINT_SIZE if joint and strategy != "chunks" else 1
            groups = [names[i : i + size] for i in range(0, len(names), size)]
            share = budget // max(map(len, groups), default=1) if joint else budget
            retriever = Retriever(book, budget=max(share, 1), seed=plan.seed, truncate=plan.truncate)
            for group in groups:
                if len(group) == 1:
                    for context in retriever.contexts(group[0], strategy):
                        row = context.to_dict(book)
                        rows.append({**row, "prompt": prompt_of(group[0], row["context"], kind)})
                else:
                    found = (context for name in group for context in retriever.contexts(name, strategy))
                    pieces = sorted({p for context in found for p in context.pieces}, key=lambda p: p.start)
                    row = Context(book.doc_key, " | ".join(group), strategy, tuple(pieces)).to_dict(book)
                    rows.append({**row, "prompt": joint_prompt(group, row["context"], kind)})
                advance(len(group))
    return rows


def add_summaries(rows: Rows, summaries: Rows, books: Sequence[Book], kind: str = "description") -> Rows:
    """The rows, and one with the book's summary as context for every character they are about.

    A summary is {doc_key, text}; it quotes no tokens of the book, so these rows have no pieces.
    """
    texts = {str(s["doc_key"]): str(s["text"]).strip() for s in summaries}
    if len(texts) < len(summaries):
        keys = Counter(str(s["doc_key"]) for s in summaries)
        raise DataError("a book has two summaries", expected="one", found=keys.most_common(1)[0][0])
    found = list(rows)
    for book in books:
        asked = {row["character"] for row in rows if row["doc_key"] == book.doc_key}
        for name in (c.name for c in book.characters if c.name in asked and texts.get(book.doc_key)):
            text = texts[book.doc_key]
            found.append({
                "doc_key": book.doc_key, "character": name, "strategy": "summary", "chunk": 0,
                "tokens": len(text.split()), "pieces": [], "context": text,
                "prompt": prompt_of(name, text, kind),
            })  # fmt: skip
    return found


def write_contexts(rows: Rows, plan: ContextPlan, out: Path) -> list[Path]:
    """Write the folder that `load_dataset` reads; returns its files."""
    title, tables = "Contexts of characters", {("default", "contexts"): rows}
    return write_task_folder(out, TaskFolder("contexts", title, FEATURES, tables, plan.to_dict(), NOTES))


def read_contexts(path: Path) -> Rows:
    """The rows of a folder of contexts, or of its file."""
    return read_rows(path / "default" / "contexts.jsonl" if path.is_dir() else path, "context_row")


def requests_of(rows: Rows) -> list[Request]:
    """What a model is asked: the prompt of every context."""
    return [Request(_key(row), str(row["prompt"])) for row in rows]


def _key(row: dict[str, Any]) -> str:
    return "\t".join(str(row[name]) for name in ("doc_key", "character", "strategy", "chunk"))


def answer_with(rows: Rows, model: AskedModel, kind: str) -> Rows:
    """Ask a model about every context, join the answers for chunks in one more call, split joint answers.

    Returns and writes rows {doc_key, character, strategy, text}.
    """
    replies = model.replies(requests_of(rows))
    chunks: dict[tuple[str, str], list[str]] = {}
    answers: Rows = []
    for row in rows:
        text = replies[_key(row)].text.strip()
        if row["strategy"] == "chunks":
            chunks.setdefault((row["doc_key"], row["character"]), []).append(text)
        elif " | " in row["character"]:
            parts = split_joint(text, row["character"].split(" | "))
            answers += [_answer(row, name, parts.get(name, "")) for name in row["character"].split(" | ")]
        else:
            answers.append(_answer(row, row["character"], text))
    # One answer for each character whose book was read in chunks; a single chunk needs no merging.
    merged = {key: texts[0] for key, texts in chunks.items() if len(texts) == 1}
    several = {key: texts for key, texts in chunks.items() if len(texts) > 1}
    requests = [Request("\t".join(key), merge_prompt(key[1], texts, kind)) for key, texts in several.items()]
    replies = model.replies(requests)
    merged |= {key: replies["\t".join(key)].text.strip() for key in several}
    for (doc_key, character), text in merged.items():
        answers.append(_answer({"doc_key": doc_key, "strategy": "chunks"}, character, text))
    model.write(answers)
    return answers


def _answer(row: dict[str, Any], character: str, text: str) -> dict[str, Any]:
    return {"doc_key": row["doc_key"], "character": character, "strategy": row["strategy"], "text": text}


def compared(
    answers: Mapping[str, Answers], references: Mapping[Character, list[str]], books: Sequence[Book],
    plan: ContextPlan, kind: str = "description",
) -> dict[str, list[Compared]]:  # fmt: skip
    """The answers of every strategy (`by_system`), and the baselines, each beside its reference.

    A character with several references (one per study guide) is compared with each, as published.
    Baselines need `books`: the first or random sentences about a character, and those nearest to it; who is
    not in the book has none.
    """
    groups = {
        name: [Compared(*key, text, one) for key, text in own.items() for one in references.get(key, ())]
        for name, own in answers.items()
    }
    most, by_key = plan.baseline_sentences[kind], {book.doc_key: book for book in books}
    pairs = ((*key, text) for key, texts in references.items() for text in texts)
    for doc_key, character, reference in pairs:
        book = by_key.get(doc_key)
        if book is None:
            continue
        listed = named_in([c.name for c in book.characters], [character])
        if not listed:
            continue
        said = passages.sentences_about(book, listed, len(book.sentence_ends))
        baselines = {
            f"{BASELINE}lead": passages.sentences_about(book, listed, most),
            f"{BASELINE}random": passages.sentences_about(book, listed, most, seed=plan.seed),
            f"{BASELINE}oracle": measure.oracle_sentences(said, reference, most),
        }
        for name, sentences in baselines.items():
            groups.setdefault(name, []).append(Compared(doc_key, character, " ".join(sentences), reference))
    return groups


def long_references(rows: Rows, plan: ContextPlan, kind: str = "description") -> dict[Character, list[str]]:
    """The texts by document and character, without those that are shorter than the recipe's limit."""
    least = plan.least_words[kind]
    long = (r for r in rows if keep_length(r["text"], least, strictly=plan.strictly, tokens=plan.tokens))
    return together(((r["doc_key"], r["character"]), r["text"]) for r in long)


def read_names(
    own: Answers, references: Mapping[Character, Any], books: Sequence[Book]
) -> dict[Character, Character]:
    """The character of the references that each answer is about, by the names of the books where these are
    given; itself where none fits (`named_in`), or another answer, reference or character fits as well."""
    casts = {book.doc_key: [c.name for c in book.characters] for book in books}

    def listed(who: Character) -> str:
        return named_in(casts.get(who[0], ()), [who[1]]) or who[1]

    wanted = together((who[0], (listed(who), who)) for who in references)
    found = {}
    for who in own:
        pairs = wanted.get(who[0], [])
        sure = Counter(name for name, _ in pairs)
        there = {name: reference for name, reference in pairs if sure[name] == 1}
        found[who] = there.get(named_in([*there, *casts.get(who[0], ())], [listed(who)]), who)
    claims = Counter(found.values())
    return {who: new if who not in references and claims[new] == 1 else who for who, new in found.items()}


def by_system(answers: Rows) -> dict[str, Answers]:
    """Texts by strategy, document and character. Raises DataError: two are about the same."""
    found: dict[str, Answers] = {}
    for row in answers:
        name, key = row.get("strategy") or "answers", (row["doc_key"], row["character"])
        if key in found.setdefault(name, {}):
            hint = "name systems apart in the field strategy, or score their files one by one"
            what = f"{name}: {key[1]!r} of {key[0]!r} has two answers"
            raise DataError(what, expected="one answer a strategy", hint=hint)
        found[name][key] = row["text"]
    return found


def matched(
    answers: Mapping[str, Answers], references: Mapping[Character, list[str]], books: Sequence[Book],
    plan: ContextPlan, kind: str = "description",
) -> tuple[dict[str, list[Compared]], dict[str, dict[str, Any]]]:  # fmt: skip
    """The answers under the names of the references (`read_names`) and the baselines, as `compared`; and by
    system what its scores do not hold, counted and named, and the names that were read as others."""
    read_as = {system: read_names(own, references, books) for system, own in answers.items()}
    said = {system: {new: answers[system][who] for who, new in of.items()} for system, of in read_as.items()}
    groups, left, keys = compared(said, references, books, plan, kind), {}, {book.doc_key for book in books}
    for system, group in groups.items():
        own = said[system].keys() if system in said else {(one.doc_key, one.character) for one in group}
        names = {
            "read_as": [f"{who[0]}: {who[1]} as {new[1]}" for who, new in read_as.get(system, {}).items()
                        if who != new],
            "without_reference": [": ".join(who) for who in own if who not in references],
            "unanswered": [": ".join(who) for who in references
                           if who not in own and (system in said or who[0] in keys)],
        }  # fmt: skip
        if system in said or names["unanswered"]:
            counts = {kind: len(names[kind]) for kind in ("without_reference", "unanswered")}
            left[system] = {**counts, "names": names}
    return groups, left


def score(
    groups: Mapping[str, Sequence[Compared]], books: Sequence[Book], *, bert: str = "",
    bert_layers: int | None = None, entailment: str = "",
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """Mean scores of the texts of every group against their references: ROUGE, the recall of entities, and
    BERTScore; new bigrams and entailment against the book where it is given. `bert` and `entailment` are the
    models of two of them, "" for none; `bert_layers` as `scores.bert_scores` takes it."""
    by_key, words = {book.doc_key: book for book in books}, _words_of(books)
    judge = measure.nli_judge(entailment) if entailment else None
    found: dict[str, dict[str, Any]] = {}
    for name, group in groups.items():
        rows: list[dict[str, float | None]] = []
        for one in group:
            book = by_key.get(one.doc_key)
            rows.append({
                **measure.rouge(one.text, one.reference),
                "entity_recall": measure.entity_recall(one.text, measure.named_entities(one.reference)),
                "novel_bigrams": measure.novel_ngrams(one.text, words[one.doc_key], 2) if book else None,
            })  # fmt: skip
            if judge and book:
                places = passages.paragraphs_of(book, len(book.tokens))
                premises = [passages.text_of(book, p.start, p.end) for p in places]
                sentences = [one.text[a:b] for a, b in sentence_spans(one.text)]
                rows[-1]["entailment"] = measure.entailment_share(sentences, premises, judge)
        if bert and group:
            texts, references = [one.text for one in group], [one.reference for one in group]
            values = measure.bert_scores(texts, references, bert, bert_layers)
            for row, value in zip(rows, values, strict=True):
                row["bert_score"] = value
        found[name] = {"texts": float(len(rows)), **mean_scores(rows)}
    return found


def _words_of(books: Sequence[Book]) -> dict[str, str]:
    return {book.doc_key: passages.text_of(book, 0, len(book.tokens)) for book in books}


def novelty(texts: Rows, books: Sequence[Book], most: int = 4) -> dict[str, float]:
    """Mean shares of n-grams that books lack, n from 1 to `most` (BookWorm, Table 6), and texts of others."""
    sources = _words_of(books)
    inside = [(str(row["text"]), sources[str(row["doc_key"])]) for row in texts if row["doc_key"] in sources]
    sizes = range(1, most + 1)
    rows = [{f"{n}-grams": measure.novel_ngrams(text, book, n) for n in sizes} for text, book in inside]
    return {"texts": len(inside), "other books": len(texts) - len(inside), **mean_scores(rows)}


def retrieval_table(book: Book, budgets: Sequence[int]) -> Rows:
    """How much of what a book says about its characters contexts hold, by strategy and budget.

    For each character: `entity_recall`, the share of other characters that share a paragraph with it at least
    twice and also occur in the context; `mention_recall`, the share of its mentions in the context;
    `precision`, the share of the context's paragraphs that mention it. Means over characters with ten
    mentions or more.
    """
    rows: Rows = []
    for budget in budgets:
        retriever = Retriever(book, budget=budget)
        # For each character the others that share at least two paragraphs with it
        places = {c.name: set(retriever.mention_counts(c.name)) for c in book.characters}
        around = {
            one: {other for other, there in places.items() if other != one and len(here & there) >= 2}
            for one, here in places.items()
        }
        for strategy in COMPARED:
            found: list[dict[str, float | None]] = []
            for name in (c.name for c in book.characters if len(c.mentions) >= 10):
                (context,) = retriever.contexts(name, strategy)
                counts, company = retriever.mention_counts(name), around[name]
                kept = {p.start for p in context.pieces}
                inside = [i for i, p in enumerate(retriever.paragraphs) if p.start in kept]
                seen = {n for p in context.pieces for n in passages.names_in(book, p.start, p.end)}
                found.append({
                    "entity_recall": len(company & seen) / len(company) if company else None,
                    "mention_recall": sum(counts.get(i, 0) for i in inside) / (sum(counts.values()) or 1),
                    "precision": sum(i in counts for i in inside) / len(inside) if inside else None,
                })  # fmt: skip
            about = {"book": book.doc_key, "budget": budget, "strategy": strategy}
            rows.append({**about, "characters": len(found), **mean_scores(found)})
    return rows
