"""BookCoref for Hugging Face `datasets`: the builder `BookCoref` and the function `load`.

Both read the folder that `bookcoref-data rebuild` wrote; nothing is fetched here. The usual way needs
neither: `datasets.load_dataset("bookcoref", "split")` from the folder's parent.
"""

from __future__ import annotations

import os
from pathlib import Path

import datasets

from bookcoref_data.errors import SourceError
from bookcoref_data.formats.card import CITATION, HOMEPAGE, LAYOUT_VERSION
from bookcoref_data.formats.folder import BOOKCOREF_LICENCES, is_folder, iter_folder, read_card_digest
from bookcoref_data.formats.schema import CONFIGS, DESCRIPTIONS, SPLITS, to_row

FOLDER_VARIABLE = "BOOKCOREF_FOLDER"

_SPANS = datasets.Sequence(datasets.Sequence(datasets.Value("int32")))
FEATURES = datasets.Features(
    {
        "doc_key": datasets.Value("string"),
        "gutenberg_key": datasets.Value("string"),
        "sentences": datasets.Sequence(datasets.Sequence(datasets.Value("string"))),
        "clusters": datasets.Sequence(_SPANS),
        # A plain list, never a Sequence: over a struct the latter means a struct of lists.
        "characters": [{"name": datasets.Value("string"), "mentions": _SPANS}],
    }
)


def find_folder(folder: str | os.PathLike | None = None) -> Path:
    """The built dataset folder: the one given, else $BOOKCOREF_FOLDER, else `bookcoref` right here.

    Raises:
        SourceError: there is none; the message says how to build one.
    """
    path = Path(folder or os.environ.get(FOLDER_VARIABLE) or "bookcoref")
    if not is_folder(path):
        raise SourceError(
            f"there is no built data set at {path.resolve()}",
            expected="a folder written by bookcoref-data rebuild",
            hint=f"bookcoref-data rebuild --from-gutenberg --out {path}   (or --sample to try it)",
        )
    return path


def load(
    config: str = "full",
    split: str | None = None,
    *,
    folder: str | os.PathLike | None = None,
    streaming: bool = False,
):
    """Load a built data set from any working folder; arguments and results as of `load_dataset`.

    Raises:
        SourceError: no data set was built yet.
    """
    return datasets.load_dataset(str(find_folder(folder).resolve()), config, split=split, streaming=streaming)


class BookCorefConfig(datasets.BuilderConfig):
    """A config whose cache key holds the content digest of the folder it reads."""

    def create_config_id(self, config_kwargs, custom_features=None) -> str:
        """The name under which prepared data is cached: other content, other name, never stale rows."""
        name = super().create_config_id(config_kwargs, custom_features)
        return f"{name}-{(read_card_digest(find_folder(self.data_dir)) or 'unknown')[:16]}"


class BookCoref(datasets.GeneratorBasedBuilder):
    """Builder over a built folder (`data_dir=`, else as `find_folder`), for datasets 2.21 to 5.x."""

    VERSION = datasets.Version(LAYOUT_VERSION)
    BUILDER_CONFIG_CLASS = BookCorefConfig
    BUILDER_CONFIGS = [  # noqa: RUF012 - the attribute that datasets looks for
        BookCorefConfig(name=name, version=datasets.Version(LAYOUT_VERSION), description=text)
        for name, text in DESCRIPTIONS.items()
    ]
    DEFAULT_CONFIG_NAME = CONFIGS[0]

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=f"BookCoref, {DESCRIPTIONS[self.config.name]}", features=FEATURES,
            citation=CITATION, homepage=HOMEPAGE, license="; ".join(map(": ".join, BOOKCOREF_LICENCES)),
        )  # fmt: skip

    def _split_generators(self, dl_manager) -> list[datasets.SplitGenerator]:
        folder = find_folder(self.config.data_dir)
        return [
            datasets.SplitGenerator(split, gen_kwargs={"folder": str(folder), "split": split})
            for split in SPLITS
            if (folder / self.config.name / f"{split}.parquet").is_file()
        ]

    def _generate_examples(self, folder: str, split: str):
        for _, record in iter_folder(Path(folder), self.config.name, [split]):
            yield record.doc_key, to_row(record.to_book().to_record())
