"""Old work must not hide a better annotator, and a comment must not throw away weeks of work."""

from __future__ import annotations

import pytest

from bookcoref_data.workflows import code_version

FILES = {
    "annotation/__init__.py": "",
    "annotation/plan.py": "from ..formats.lines import read\nfrom .hub import judge\n",
    "annotation/embedded/backend.py": (
        '"""What it does."""\nfrom ...words import forms\n\ndef run(x):\n    """Twice."""\n    return 2 * x\n'
    ),
    "annotation/embedded/kin.toml": "aunt = 1",
    "annotation/hub/judge.py": "YES = 1\n",
    "annotation/weights/embedded.npz": "1",
    "annotation/weights/hub.npz": "1",
    "words/forms.py": "from . import more\n",
    "words/more.py": "FORMS = 1\n",
    "words/unused.py": "X = 1\n",
    "formats/lines.py": "X = 1\n",
}
BACKEND = FILES["annotation/embedded/backend.py"]


@pytest.mark.parametrize(
    ("file", "text", "other"),
    [
        ("annotation/embedded/backend.py", BACKEND.replace("2 * x", "3 * x"), True),
        ("annotation/embedded/backend.py", BACKEND.replace("Twice.", "Double."), False),
        ("annotation/embedded/backend.py", BACKEND.replace("What it does", "Why"), False),
        ("annotation/embedded/backend.py", BACKEND.replace("2 * x", "(2 *\n        x)  # twice"), False),
        ("annotation/embedded/kin.toml", "aunt = 2", True),
        ("annotation/embedded/new.py", "", True),
        ("annotation/plan.py", "STEPS = 1\n", True),
        ("annotation/weights/embedded.npz", "2", True),
        ("annotation/weights/hub.npz", "2", False),
        ("annotation/hub/judge.py", "YES = 2\n", False),
        ("words/more.py", "FORMS = 2\n", True),
        ("words/unused.py", "X = 2\n", False),
        ("formats/lines.py", "X = 2\n", False),
        ("annotation/embedded/__pycache__/backend.pyc", "2", False),
    ],
)
def test_what_can_change_an_annotation_changes_the_version(tmp_path, monkeypatch, file, text, other):
    monkeypatch.setattr(code_version, "_PACKAGE", tmp_path)
    made = code_version.annotator_version.__wrapped__
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    before = made("embedded")
    assert before == made("embedded") != made("hub")
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert (made("embedded") != before) is other


def test_facts_that_deciding_code_loads_are_part_of_the_version(tmp_path, monkeypatch):
    """Word lists lie in manifests/, not in code: other titles or pronouns give another annotation."""
    facts = tmp_path / "honorifics.toml"
    facts.write_text("mr = 1", encoding="utf-8")
    real, asked = code_version.resource, []

    def resource(kind, name):
        asked.append(f"{kind}/{name}")
        return facts if name == "honorifics.toml" else real(kind, name)

    monkeypatch.setattr(code_version, "resource", resource)
    annotator, reader = code_version.annotator_version.__wrapped__, code_version.reader_version.__wrapped__
    before = annotator("embedded"), reader()
    assert {"manifests/words.toml", "manifests/apparatus.toml", "recipes/clean.toml"} <= {*asked}
    facts.write_text("mr = 2", encoding="utf-8")
    assert annotator("embedded") != before[0]
    facts.write_text("mr = 1", encoding="utf-8")
    assert (annotator("embedded"), reader()) == before
