"""Write the generated files of the sample anew, after a change of its story, markup or tokens."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bookcoref_data.sample_story.story import sample_path
from tests.sample_story.making import mirror_files, release_files

for kind, contents in (("mirror", mirror_files()), ("release", release_files())):
    for name, content in contents.items():
        path = sample_path(kind) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
