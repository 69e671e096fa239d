"""Typed spans from a tagger: spaCy's named entities, or a token classifier of the Hub such as CNER."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..errors import DataError, SourceError, needing
from ..late import spacy, torch, transformers
from ..spacy_model import load_spacy_model, words_for_spacy

TypedOffsets = tuple[int, int, str]


def entity_spans(tokens: Sequence[str], sentence_ends: Sequence[int]) -> list[TypedOffsets]:
    """(start, end, label of OntoNotes) of spaCy's entities, 0-based, both inclusive; sentence by sentence.

    Raises MissingExtraError: no English model of spaCy is installed. DataError: a token is empty.
    """
    without = ["parser", "tagger", "lemmatizer", "attribute_ruler", "senter"]
    nlp, _ = load_spacy_model("labelling with spaCy's named entities", without=without)
    starts, words = (0, *sentence_ends), words_for_spacy(tokens, "the text to label")
    documents = (spacy.tokens.Doc(nlp.vocab, words=words[a:b]) for a, b in pairwise(starts))
    return [
        (start + entity.start, start + entity.end - 1, entity.label_)
        for start, document in zip(starts, nlp.pipe(documents, batch_size=64), strict=False)
        for entity in document.ents
    ]


def hub_tags(model: str, sentences: Sequence[Sequence[str]], *, batch_size: int = 16) -> Iterator[list[str]]:
    """The BIO tag of every token by a token classifier of the Hub (or a local folder), sentence by sentence.

    A token has the tag of its first subword; a token without one, and whatever lies past the longest input
    of the model, has "O".

    Raises MissingExtraError: torch or transformers is not installed. SourceError: the model cannot be had.
    DataError: it has no fast tokenizer.
    """
    with needing("gpu", "transformers", "labelling with a model of the Hub"):
        classifier, tokenizers = transformers.AutoModelForTokenClassification, transformers.AutoTokenizer
    try:
        tokenizer = tokenizers.from_pretrained(model, add_prefix_space=True)
        network = classifier.from_pretrained(model, use_safetensors=True).eval()
    except (OSError, ValueError) as error:
        what = f"cannot load the model {model}"
        hint = "name a token classifier of the Hub with safetensors weights, or a local folder with one"
        raise SourceError(what, found=str(error).splitlines()[0], hint=hint) from error
    if not tokenizer.is_fast:
        raise DataError(f"the model {model} has no fast tokenizer", hint="choose a model that has one")
    names = network.config.id2label
    for at in range(0, len(sentences), batch_size):
        batch = [[token if token.strip() else "." for token in s] for s in sentences[at : at + batch_size]]
        inputs = tokenizer(
            batch, is_split_into_words=True, truncation=True, padding=True, return_tensors="pt"
        )
        with torch.no_grad():
            best = network(**inputs).logits.argmax(-1).tolist()
        for i, sentence in enumerate(batch):
            tags = ["O"] * len(sentence)
            for place, word in reversed(list(enumerate(inputs.word_ids(i)))):
                if word is not None:
                    tags[word] = names[best[i][place]]
            yield tags
