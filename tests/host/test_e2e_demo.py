"""`make run` as a newcomer sees it: its story, and its errors."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts import demo_picture
from tenner_sim.services import Services, Step
from tests.host.e2e import SideBySide

together = SideBySide(at_once=3)

ROOT = Path(__file__).resolve().parent.parent.parent


COMMAND = [sys.executable, "-m", "tenner_sim.demo"]


def place(folder, **environment):
    """The environment of a demo whose boards are below `folder`."""
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LLM_", "TELEGRAM_", "FOLLOW", "RUNTIME"))
    }
    return {**own, "TENNER_SIM_DIR": str(folder), "COLUMNS": "200", **environment}


def demo(folder=None, **environment):
    """Run the demo with its boards below `folder`; return (exit code, output, errors)."""
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            COMMAND,
            cwd=ROOT,
            env=place(folder or empty, **environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    return done.returncode, done.stdout, done.stderr


# The events, in this order; the log's own words.
STORY = [
    r"board \| .*boot +tenner [\d.]+ on esp32",
    r"board \| .*clock +\w+day 20\d\d-\d\d-\d\d \d\d:\d\d \(",
    r"board \| .*heartbeat no condition met \(1 checked\)",
    r"board \| .*heartbeat room\.temperature 31\.5 > 30: alarm",
    r"board \| .*llm +\d+ bytes sent, \d+\+\d+ tokens: calls i2c",
    r"board \| .*tool +i2c read,.*address 72",
    r"board \| .*heartbeat alarm \d+: message queued \(\d+ tokens",
]


@together.each([("micropython",), ("cpython",)])
def test_the_whole_path_is_shown(runtime):
    code, output, errors = demo(RUNTIME=runtime)
    assert code == 0, output + errors
    assert errors == ""
    at = 0
    for pattern in STORY:
        found = re.compile(pattern).search(output, at)
        assert found, f"{pattern} is missing in {output[at:]}"
        at = found.end()
    phone = re.findall(r"Telegram, to the owner[^\n]*\n│ ([^\n]*?) *│", output)
    assert phone == [
        "The TMP102 at 0x48 on i2c0 reads 31.5 °C.",
        "The TMP102 at 0x48 on i2c0 reads 29.25 °C.",
    ]
    assert "stand-in" in output and "What next?" in output
    assert "Traceback" not in output


def _without_numbers(line):
    """A line of the demo, without the parts that differ from run to run."""
    return " ".join(re.sub(r"\w+day \d|[\d.]*\d", "0", line.strip(" │╭╮╰╯─")).split())


@together.check
def test_the_picture_in_the_readme_shows_these_texts():
    code, output, errors = demo()
    assert code == 0, output + errors
    printed = [_without_numbers(line) for line in output.splitlines()]
    drawn = demo_picture.lines(demo_picture.TARGET.read_text(encoding="utf-8"))
    assert len(drawn) > 25
    for line in drawn:
        wanted = _without_numbers(line)
        assert wanted in printed, f"{line!r} is not in the demo: run `make picture`"
        # In the same order.
        del printed[: printed.index(wanted) + 1]


def test_the_commands_that_follow_prints_do_something_visible(tmp_path):
    environment = place(tmp_path, FOLLOW="1")
    with subprocess.Popen(
        COMMAND,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        seen = []

        def until(pattern):
            """The match of the first line from here on that has it."""
            for line in process.stdout:
                seen.append(line)
                if found := re.search(pattern, line):
                    return found
            raise AssertionError(f"it ended without {pattern}: {''.join(seen)}")

        def printed(command):
            """Run a command of the list unchanged; return its output."""
            line = until(rf" \.venv/bin/{command}")[0] and seen[-1]
            words = shlex.split(re.split(r"   +", line.strip())[0])
            return subprocess.run(
                [sys.executable, "-m", "tenner_host.cli", *words[1:]],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            ).stdout

        try:
            until("In another terminal:")
            assert printed("tenner sim set") == ""
            assert "next: " in printed("tenner why")
            assert "reads 35 °C" in printed("tenner chat")
            # The board's lines go on behind each command, and the phone's.
            wanted = {
                "Telegram, to the owner",
                "The TMP102 at 0x48 on i2c0 reads 35 °C",
                r"board \| .*heartbeat room\.temperature 35 > 30",
                r"board \| .*agent +console",
            }
            while wanted:
                until("|".join(wanted))
                wanted = {one for one in wanted if not re.search(one, seen[-1])}
            assert not re.search("[\x1c-\x1f]|/=", "".join(seen))
            process.send_signal(signal.SIGINT)
            process.communicate()
            assert process.returncode == 0
        finally:
            process.kill()


def _one_sentence(result, pattern):
    code, output, errors = result
    assert code != 0, output
    assert re.search(pattern, errors), errors
    assert errors.startswith("tenner: ") and errors.count("\n") == 1, errors
    assert "Traceback" not in output + errors


@together.check
def test_without_micropython():
    _one_sentence(demo(MICROPYTHON="/nonexistent"), "/nonexistent.*does not start")


@together.check
def test_an_unknown_runtime():
    _one_sentence(demo(RUNTIME="ruby"), "RUNTIME is micropython or cpython, not 'ruby'")


@together.check
def test_settings_that_are_missing():
    _one_sentence(demo(LLM_API_KEY="k"), "LLM_MODEL is missing")
    _one_sentence(demo(TELEGRAM_TOKEN="1:a"), "TELEGRAM_OWNER is missing")


@together.check
def test_a_model_that_cannot_be_reached():
    result = demo(LLM_BASE_URL="https://localhost:9", LLM_API_KEY="wrong", LLM_MODEL="m")
    _one_sentence(result, "localhost:9 cannot be reached")


@together.check
def test_a_model_that_refuses_the_key():
    with Services(tls=False) as services:
        services.model.plan([Step(status=401, times=100)])
        result = demo(
            LLM_BASE_URL=services.model.base_url,
            LLM_API_KEY="not-the-right-key",
            LLM_MODEL="some-model",
        )
    _one_sentence(result, "401|key")


@together.check
def test_a_model_with_an_authority_of_its_own():
    with Services() as services, tempfile.TemporaryDirectory() as folder:
        services.model.plan([Step(status=401, times=100)])
        bundle = Path(folder, "ca.pem")
        bundle.write_bytes(services.authority.pem)
        own = {"LLM_BASE_URL": services.model.base_url, "LLM_API_KEY": "k", "LLM_MODEL": "m"}
        _one_sentence(demo(**own), "cannot be verified")
        # The demo gets that far: only the model's own refusal ends it.
        _one_sentence(demo(SSL_CERT_FILE=str(bundle), **own), "401|key")


def test_a_board_that_runs_already(tmp_path):
    # Another board of that name, as far as anybody can tell: this process is alive.
    (tmp_path / "demo").mkdir()
    description = {"pid": os.getpid(), "pty": "", "socket": ""}
    (tmp_path / "demo" / "board.json").write_text(json.dumps(description))
    _one_sentence(demo(tmp_path), "'demo' is running already")
