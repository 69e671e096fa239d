"""The spaCy component `bookcoref`. spaCy imports this module through an entry point; nothing else does.

nlp = spacy.load("en_core_web_sm")
nlp.add_pipe("bookcoref", config={"cast": ["Anna Hill; Anna", "Martin"]})
doc = nlp(text)
doc.spans["coref_clusters_1"]        # one span group per character
doc._.characters                     # {"Anna Hill": "coref_clusters_1", ...}
doc._.quotes                         # [Quotation(span, speaker, addressees), ...]
"""

from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, Span

from .annotation.cast import parse_cast
from .annotation.embedded.backend import EmbeddedBackend
from .annotation.embedded.parsing import use_faster_kernel
from .annotation.narration import throughout
from .annotation.plan import default_plan
from .annotation.propose import propose_cast
from .annotation.steps import Job, run_steps
from .errors import UsageError
from .workflows.spacy_docs import PREFIX, book_of_doc, parse_of_doc, write_clusters


class Quotation(NamedTuple):
    """Direct speech: its span with the quotation marks, who speaks ("" if unknown), who is spoken to."""

    span: Span
    speaker: str
    addressees: tuple[str, ...]


class BookcorefComponent:
    """Annotates the characters of a parsed document. Works after any tagger and parser for English."""

    def __init__(self, cast: list[str], narrator: str) -> None:
        self._cast = parse_cast("\n".join(cast), "cast") if cast else None
        self._narrator = narrator

    def __call__(self, doc: Doc) -> Doc:
        if not len(doc):
            return doc
        book, parse = book_of_doc(doc), parse_of_doc(doc)
        cast = self._cast or propose_cast(book, parse=parse).cast
        narration = throughout(cast.index(self._narrator), book) if self._narrator else ()
        plan = default_plan("embedded")
        backend = EmbeddedBackend(plan)
        backend.hold(book, parse)
        state = run_steps(backend, Job(book, cast, narration), plan.steps)
        found = [(spans, name) for name, spans in zip(cast.names, state.spans(), strict=True) if spans]
        write_clusters(doc, found)
        doc._.characters = {name: f"{PREFIX}_{i}" for i, (_, name) in enumerate(found, 1)}
        names = state.names
        doc._.quotes = [
            Quotation(doc[q.start : q.end + 1], names[q.speaker] if q.speaker >= 0 else "",
                      tuple(names[a] for a in q.addressees))
            for q in state.quotes
        ]  # fmt: skip
        return doc


@Language.factory(  # type: ignore[untyped-decorator]  # spaCy declares no type for it
    "bookcoref", default_config={"cast": [], "narrator": ""}, requires=["token.dep", "token.tag"]
)
def make_component(nlp: Language, name: str, cast: list[str], narrator: str) -> BookcorefComponent:
    """The component. `cast` are lines of a cast file ("Name; alias; alias"); empty: proposed from the text.

    Raises:
        UsageError: the pipeline is not an English one.
    """
    if nlp.lang != "en":
        raise UsageError(f"bookcoref reads English only, not {nlp.lang!r}")
    for extension, default in (("characters", {}), ("quotes", [])):
        if not Doc.has_extension(extension):
            Doc.set_extension(extension, default=default)
    use_faster_kernel(nlp)
    return BookcorefComponent(cast, narrator)
