"""`python -m tenner` and `micropython -m tenner`: one turn, one beat, and an owner's mistakes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tenner_host.interpreters import search_path
from tenner_sim.services import Answer, Services, Step, ToolCall
from tests.host.e2e import settings

FIRMWARE = Path(__file__).resolve().parent.parent.parent / "firmware"


@pytest.fixture(params=["cpython", "micropython", "micropython32"])
def python(request):
    """The command that starts each interpreter."""
    if request.param == "cpython":
        return (sys.executable,)
    return request.getfixturevalue(request.param).argv


@pytest.fixture(scope="module")
def services():
    with Services() as made:
        yield made


@pytest.fixture
def root(tmp_path, services):
    """The folder of an agent that uses the stand-in."""
    (tmp_path / "certs").mkdir()
    (tmp_path / "certs" / "stand-in.der").write_bytes(services.ca_der)
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "HEARTBEAT.md").write_text("# Heartbeat\n")
    changes = {"telegram.token": None, "telegram.owner": None}
    (tmp_path / "config.json").write_text(json.dumps(settings(services, changes)))
    with services.model.changed:
        services.model.requests.clear()
    services.model.plan([])
    return tmp_path


@pytest.fixture
def tenner(python, root):
    """Run the agent with options; return (exit code, its output, its errors)."""

    def run(*options, environment=None):
        done = subprocess.run(
            [*python, "-m", "tenner", *options],
            cwd=FIRMWARE,
            env={
                **os.environ,
                "MICROPYPATH": search_path(FIRMWARE),
                "TENNER_HOME": str(root),
                **(environment or {}),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
        return done.returncode, done.stdout, done.stderr

    return run


def test_once_prints_the_reply_and_nothing_else(tenner, root, services):
    code, output, errors = tenner("--once", "say: hello")
    assert (code, output.split("\n")[0]) == (0, "hello"), output + errors
    assert "bytes sent" not in output
    assert len(services.model.requests) == 1


def test_once_prints_a_long_reply_to_its_end(tenner, root, services):
    path = root / "config.json"
    config = json.loads(path.read_text())
    config["llm"]["max_tokens"] = 16_384
    path.write_text(json.dumps(config))
    for count in (3_000, 6_000):
        words = "".join([f"word {number}\n" for number in range(count)]) + "the end"
        services.model.script = [Answer(words)]
        code, output, errors = tenner("--once", "say: hello")
        assert code == 0, output[-500:] + errors
        assert output == words + "\n", (len(output), len(words))


def test_once_says_that_a_reply_is_empty(tenner, services):
    services.model.script = [Answer("")]
    code, output, errors = tenner("--once", "say: hello")
    assert (code, output) == (0, "(The model gave no text.)\n"), output + errors


def test_once_promises_no_background_task(tenner, services):
    services.model.script = [Answer("", [ToolCall("spawn", {"task": "count"})]), "I see."]
    code, output, errors = tenner("--once", "count later")
    assert (code, output) == (0, "I see.\n"), output + errors
    told = services.model.requests[-1].json["messages"][-1]["content"]
    assert "nothing runs in the background" in told, told


def test_once_uses_tools_and_the_workspace_that_is_named(tenner, root, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "note.txt").write_text("the key is under the mat\n")
    code, output, errors = tenner(
        "--workspace", str(other), "--once", 'call read_file {"path": "note.txt"}'
    )
    assert code == 0, output + errors
    assert "the key is under the mat" in output


def test_once_with_a_failing_model(tenner, services):
    services.model.plan([Step(status=401, times=9)])
    code, output, _ = tenner("--once", "say: hello")
    assert code == 1
    assert "tenner: I could not get an answer: " in output and "401" in output


def test_a_certificate_nobody_vouches_for(tenner, root, services):
    (root / "certs" / "stand-in.der").write_bytes(services.authority.other_der)
    code, output, _ = tenner("--once", "say: hello")
    assert code == 1
    assert "signed by an authority that is not in /certs" in output
    assert services.model.requests == []


def test_one_beat_with_nothing_to_do(tenner, services):
    code, output, errors = tenner("--heartbeat")
    assert code == 0, output + errors
    assert "heartbeat every 30 min" in output and "now: " in output
    assert "decision: " in output and "would send: nothing" in output
    assert services.model.requests == []


def test_one_beat_that_has_something_to_say(tenner, root, services):
    (root / "workspace" / "HEARTBEAT.md").write_text("- Say: water the plants.\n")
    code, output, errors = tenner("--heartbeat")
    assert code == 0, output + errors
    assert "decision: run" in output, output + errors
    assert "would send: water the plants." in output
    assert len(services.model.requests) == 1


def test_help_names_every_option(tenner):
    code, output, errors = tenner("--help")
    assert (code, errors) == (0, "")
    for option in ("--config FILE", "--workspace DIR", "--once TEXT", "--heartbeat", "--help"):
        assert option in output


# (options, the sentence)
MISTAKES = [
    (["--frobnicate"], "unknown option --frobnicate; --help shows all options"),
    (["--once"], "--once needs a value"),
    (["--once", "x", "--heartbeat"], "do not go together"),
    (["--config", "/nonexistent.json", "--once", "x"], "/nonexistent.json does not exist"),
    (["--workspace", "/nonexistent", "--once", "x"], "/nonexistent does not exist"),
]


@pytest.mark.parametrize(("options", "sentence"), MISTAKES, ids=lambda value: " ".join(value)[:20])
def test_a_wrong_option_is_one_sentence(tenner, options, sentence):
    code, output, errors = tenner(*options)
    said = (output + errors).strip()
    assert code == 2
    assert said.startswith("tenner: ") and sentence in said and "\n" not in said, said


def test_a_root_folder_is_made(tenner, root):
    folder = root / "a" / "new one"
    code, output, errors = tenner("--root", str(folder), "--heartbeat")
    assert code == 0 and "decision: " in output, output + errors
    assert (folder / "state").is_dir()


def test_a_root_folder_that_cannot_be_made_is_one_sentence(tenner, root):
    code, output, errors = tenner("--root", str(root / "config.json" / "x"), "--heartbeat")
    said = (output + errors).strip()
    assert code == 2 and "\n" not in said, said
    assert said.startswith(f"tenner: the folder {root}/config.json/x cannot be made: ")
    assert said.endswith("; name another with --root")


# (name, config.json, words of the sentence)
BAD_CONFIGS = [
    ("unknown-key", '{"llm": {"modle": "x"}}', ["llm.modle", "llm.model"]),
    ("unknown-section", '{"telegrm": {"token": "x"}}', ["telegrm", "telegram"]),
    ("wrong-type", '{"llm": {"max_tokens": "many"}}', ["llm.max_tokens"]),
    ("out-of-range", '{"llm": {"timeout_s": 1}}', ["llm.timeout_s", "5"]),
    ("malformed", '{\n "llm": {\n  "model": "x",,\n }\n}', ["config.json", "line 3"]),
    ("cut-off", '{\n "llm": {\n  "model": "x"', ["config.json", "line 3"]),
    ("no-object", '["llm"]', ["config.json", "object"]),
    ("empty", "", ["config.json"]),
]


@pytest.mark.parametrize(
    ("text", "names"), [case[1:] for case in BAD_CONFIGS], ids=[case[0] for case in BAD_CONFIGS]
)
def test_a_wrong_config_is_one_sentence(tenner, root, text, names):
    (root / "config.json").write_text(text)
    code, output, errors = tenner("--once", "say: hello")
    said = (output + errors).strip()
    assert code == 2, said
    assert said.startswith("tenner: ") and "\n" not in said, said
    for name in names:
        assert name in said, said


def test_the_environment_overrides(tenner, services):
    code, output, _ = tenner("--once", "say: hello", environment={"TENNER_LLM_API_KEY": "wrong"})
    assert code == 1 and "401" in output
    code, output, errors = tenner("--once", "x", environment={"TENNER_LLM_MAX_TOKENS": "many"})
    assert code == 2 and "max_tokens" in (output + errors).lower()


def test_the_services_end_in_one_sentence_too(tenner, root):
    (root / "config.json").write_text('{"llm": ')
    code, output, errors = tenner()
    assert code == 2
    assert "config.json" in output + errors


def test_the_places_of_a_user(tenner, root, tmp_path):
    """Settings in one folder, everything else in another, as XDG has them."""
    data = tmp_path / "data"
    data.mkdir()
    user = tmp_path / "user"
    (user / "tenner").mkdir(parents=True)
    home = data / "tenner"
    home.mkdir()
    for name in ("certs", "workspace"):
        (root / name).rename(home / name)
    (root / "config.json").rename(user / "tenner" / "config.json")
    places = {"TENNER_HOME": "", "XDG_DATA_HOME": str(data), "XDG_CONFIG_HOME": str(user)}
    code, output, errors = tenner("--once", "say: hello", environment=places)
    assert (code, output.split("\n")[0]) == (0, "hello"), output + errors
    assert (home / "state").is_dir()
    code, output, _ = tenner("--root", str(home), "--once", "say: hello", environment=places)
    assert code == 1, "with a root of its own it has no settings but that one's"
