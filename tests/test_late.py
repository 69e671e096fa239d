"""Modules that are imported when something of them is first used."""

import subprocess
import sys


def test_the_modules_of_a_late_room_are_imported_when_they_are_used():
    code = (
        "import sys; from bookcoref_data.workflows import casts as late; "
        "name = 'bookcoref_data.workflows.casts'; "
        "before = name in sys.modules; late.read_cast; print(before, name in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "True"]


def test_what_is_set_on_a_late_module_is_set_on_the_module(monkeypatch):
    from bookcoref_data.late import modules_of
    from bookcoref_data.workflows.casts import read_cast

    late = modules_of("bookcoref_data.workflows")("casts")
    with monkeypatch.context() as patch:
        patch.setattr(late, "read_cast", None)
        assert sys.modules["bookcoref_data.workflows.casts"].read_cast is None
    assert late.read_cast is read_cast
    assert not hasattr(late, "nothing")


def test_what_needs_one_rule_of_scoring_does_not_load_all_of_it():
    """With the kappa of two judges, or the type of a mention, numpy came, and with it a fifth of a second."""
    modules = "bookcoref_data.asking, bookcoref_data.exports, bookcoref_data.tasks.questions.grading"
    code = f"import sys, {modules}; print('numpy' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False"]
