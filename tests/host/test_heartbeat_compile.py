"""`tenner heartbeat --compile`: a model's replies are rules, or change nothing."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tenner_host.cli import main
from tenner_host.heartbeat.compile import Refused, _text, candidates, rule
from tenner_sim.services import API_KEY, OfflineModel
from tenner_sim.services.offline_model import MODEL
from tests import provider_requests

SENSORS = {
    "cellar": {"driver": "sht31", "name": "Keller"},
    "room": {"driver": "sht31"},
    "door": {"driver": "gpio"},
    "tank": {"driver": "adc", "value": "level"},
}
PROSE = (
    "# Heartbeat\n\n- sag mir, wenn der Keller feucht ist\n- Be kind.\n"
    "- the tank should never run dry at 5 %\n- (daily 07:30) Report.\n"
)
DAMP = "(when cellar.humidity > 70 % for 10m; notify)"
#: Replies of the two kinds of models: the bare bracket, and one in a code span.
RULES = (
    (DAMP, DAMP),
    (f"`{DAMP}`", DAMP),
    (f"```\n{DAMP}\n```", DAMP),
    (f"  {DAMP}\n", DAMP),
    ("(daily 07:30)", "(daily 07:30)"),
    ("(every 2h; hours 08:00-20:00)", "(every 2h; hours 08:00-20:00)"),
    ("(when tank.level < 5 % reset 10; notify; urgent)",) * 2,
    ("(when door.state is open for 10m; notify)",) * 2,
    ("(tomorrow 08:00; notify)", "(tomorrow 08:00; notify)"),
)
NO_RULES = (
    "",
    "Sure! Here is the rule:\n(daily 07:30)",
    "(daily 07:30) and (every 1h)",
    "- (daily 07:30) Report",
    "(when attic.humidity > 70; notify)",
    "(when cellar.humidty > 70; notify)",
    "(when cellar.humidity > 70 V; notify)",
    "(when cellar is damp; notify)",
    "(daily 25:00)",
    "(evry 10m)",
    "(banana)",
    '{"rule": "(daily 07:30)"}',
    "(daily 07:30" + " " * 500 + ")",
    "rm -rf /",
    "(when cellar.humidity > 70; notify) {room.temperature}",
)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "workspace"
    place.mkdir()
    (place / "SENSORS.json").write_text(json.dumps(SENSORS))
    (place / "HEARTBEAT.md").write_text(PROSE)
    return place


@pytest.mark.parametrize(("reply", "bracket"), RULES)
def test_a_reply_that_is_a_rule_keeps_the_owners_words(folder, reply, bracket):
    made = rule(reply, "- sag mir, wenn der Keller feucht ist", folder)
    assert made == f"- {bracket} sag mir, wenn der Keller feucht ist"


@pytest.mark.parametrize("reply", NO_RULES)
def test_a_reply_that_is_no_rule_changes_nothing(folder, reply):
    with pytest.raises(Refused):
        rule(reply, "- sag mir, wenn der Keller feucht ist", folder)


def test_a_model_may_say_that_a_line_needs_it(folder):
    for reply in ("no", "No.", "`no`"):
        assert rule(reply, "- sag mir, wenn der Keller feucht ist", folder) is None


def test_only_prose_that_names_something_is_asked_about(folder):
    assert [one["line"] for one in candidates(PROSE, folder)] == [3, 5]


def test_texts_of_both_formats_and_of_none():
    assert _text({"choices": [{"message": {"content": "(x)"}}]}) == "(x)"
    assert _text({"content": [{"type": "thinking"}, {"type": "text", "text": "(x)"}]}) == "(x)"
    for odd in ({}, [], {"choices": []}, {"content": None}, {"choices": [{"message": None}]}):
        assert _text(odd) == ""


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_the_diff_of_a_file(folder, api):
    # The service checks each request by the provider's own models.
    provider_requests.load(api)
    with OfflineModel() as model:
        model.script = [DAMP, "I would rather not."]
        base = model.base_url if api == "chat" else model.base_url.removesuffix("/v1")
        llm = {"api": api, "base_url": base, "api_key": API_KEY, "model": MODEL}
        (folder.parent / "config.json").write_text(json.dumps({"llm": llm}))
        path = str(folder / "HEARTBEAT.md")
        done = CliRunner().invoke(main, ["heartbeat", "--compile", "--json", path])
        assert done.exit_code == 0, done.output
        asked = [one.json for one in model.requests]
    found = json.loads(done.stdout)
    assert found["calls"] == 2 == len(asked)
    assert "cellar.humidity" in json.dumps(asked[0]) and "feucht" in json.dumps(asked[0])
    changed = [line for line in found["diff"].split("\n") if line[:1] in "+-"][2:]
    assert changed == [
        "-- sag mir, wenn der Keller feucht ist",
        f"+- {DAMP} sag mir, wenn der Keller feucht ist",
    ]
    assert found["lines"][1]["text"].startswith("stays as it is: the model answered no bracket")
    assert (folder / "HEARTBEAT.md").read_text() == PROSE


def test_a_model_that_is_away_or_not_set_is_a_sentence(folder):
    path = str(folder / "HEARTBEAT.md")
    done = CliRunner().invoke(main, ["heartbeat", "--compile", path])
    assert done.exit_code == 1 and "llm.model is not set" in done.output
    llm = {"base_url": "http://127.0.0.1:9/v1", "model": "x"}
    (folder.parent / "config.json").write_text(json.dumps({"llm": llm}))
    done = CliRunner().invoke(main, ["heartbeat", "--compile", path])
    assert done.exit_code == 1 and "did not answer" in done.output
