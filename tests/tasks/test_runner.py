"""Asking models: endpoint, cache, resumption, counts, and a tiny local model."""

from __future__ import annotations

import json

import pytest

from bookcoref_data.errors import SourceError, UsageError
from bookcoref_data.tasks.runner.models import EndpointModel, choice_tree
from bookcoref_data.tasks.runner.run import Prices, Request, ask, preview, read_cache


def requests(count):
    return [Request(f"q{i}", f"prompt {i}", "a|b", ("a", "b")) for i in range(count)]


def model(chat, **options):
    return EndpointModel(chat.url, "tiny", sleep=lambda _: None, **options)


def test_replies_come_by_key_and_are_counted(chat, tmp_path):
    chat.answer = lambda body: body["messages"][0]["content"].upper()
    replies, report = ask(requests(5), model(chat), tmp_path / "c.jsonl", prices=Prices(2.0, 4.0))
    assert {k: r.text for k, r in replies.items()} == {f"q{i}": f"PROMPT {i}" for i in range(5)}
    assert (report.asked, report.cached, report.prompt_tokens, report.reply_tokens) == (5, 0, 50, 15)
    assert report.cost == pytest.approx((50 * 2 + 15 * 4) / 1e6)


def test_a_second_run_asks_only_what_is_new(chat, tmp_path):
    cache = tmp_path / "c.jsonl"
    ask(requests(3), model(chat), cache)
    cache.write_bytes(cache.read_bytes() + b'{"digest": "cut of')  # a run that was killed while writing
    replies, report = ask(requests(4), model(chat), cache)
    assert (report.asked, report.cached, len(chat.bodies), len(replies)) == (1, 3, 4, 4)
    assert len(read_cache(cache)) == 4


def test_other_settings_ask_anew_and_equal_prompts_are_asked_once(chat, tmp_path):
    cache = tmp_path / "c.jsonl"
    twice = [Request("a", "same"), Request("b", "same")]
    replies, report = ask(twice, model(chat), cache)
    assert (report.asked, report.cached, set(replies)) == (1, 1, {"a", "b"})
    _, report = ask(twice, model(chat, most_tokens=7), cache)
    assert report.asked == 1


def test_passing_errors_are_tried_again_and_lasting_ones_keep_what_was_done(chat, tmp_path):
    waits = []
    chat.script = [(429, {"Retry-After": "7"}), (503, {})]
    one = EndpointModel(chat.url, "tiny", sleep=waits.append, parallel=1, tries=9)
    assert one.reply(Request("a", "p")).text == "a reply"
    assert waits == [7.0, 2.0]
    chat.script = [(status, {}) for status in (408, 409, 425, 429, 500, 502, 503, 504)]
    assert one.reply(Request("a", "p")).text == "a reply"
    for lasting in (400, 403, 404, 410, 422, 426, 430, 501, 505):
        chat.script = [(lasting, {})]
        with pytest.raises(SourceError, match=f"status {lasting}"):
            one.reply(Request("a", "p"))
    chat.script = [(200, {}), (401, {})]
    with pytest.raises(SourceError, match="401"):
        ask(requests(2), one, tmp_path / "c.jsonl")
    assert len(read_cache(tmp_path / "c.jsonl")) == 1


def test_constraints_and_the_key_are_sent_only_when_asked_for(chat, monkeypatch):
    monkeypatch.setenv("OUR_KEY", "k")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    one = requests(1)[0]
    model(chat).reply(one)
    model(chat, constrain="regex", key_variable="OUR_KEY").reply(one)
    model(chat, constrain="choice").reply(one)
    assert "guided_regex" not in chat.bodies[0]
    assert "Authorization" not in chat.headers[0]
    assert (chat.bodies[1]["guided_regex"], chat.headers[1]["Authorization"]) == ("a|b", "Bearer k")
    assert chat.bodies[2]["guided_choice"] == ["a", "b"]


def test_what_is_no_chat_server_is_named(chat):
    chat.raw = b"<html>"
    with pytest.raises(SourceError, match="another form"):
        model(chat).reply(Request("a", "p"))
    with pytest.raises(UsageError, match="web address"):
        EndpointModel("localhost:1", "m")
    gone = EndpointModel("http://127.0.0.1:9/v1", "m", tries=2, sleep=lambda _: None)
    with pytest.raises(SourceError, match="does not answer"):
        gone.reply(Request("a", "p"))


def test_a_preview_asks_nothing():
    found = preview(requests(9), 2, Prices(1e6))
    assert [p["key"] for p in found["prompts"]] == ["q0", "q1"]
    assert (found["requests"], found["prompt_tokens_about"]) == (9, 18)


def test_the_tree_of_choices_allows_whole_choices_only():
    tree, longest = choice_tree([[1, 2], [1, 3, 4]], 0)
    assert tree == {(): [1], (1,): [2, 3], (1, 2): [0], (1, 3): [4], (1, 3, 4): [0]}
    assert longest == 4


def test_the_cache_is_plain_json_lines(chat, tmp_path):
    ask(requests(1), model(chat), tmp_path / "c.jsonl")
    row = json.loads((tmp_path / "c.jsonl").read_text())
    assert (row["key"], row["model"], row["response"]) == ("q0", "tiny", "a reply")
