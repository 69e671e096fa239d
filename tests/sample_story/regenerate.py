"""Write the generated files of the sample anew, after a change of its story, markup or tokens."""

from bookcoref_data.sample_story.release import mirror_files, release_files
from bookcoref_data.sample_story.story import sample_path

for kind, contents in (("mirror", mirror_files()), ("release", release_files())):
    for name, content in contents.items():
        path = sample_path(kind) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
