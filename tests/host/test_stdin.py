"""The agent of a Linux board starts with any standard input: a service has none."""

import json
import os
import subprocess
import sys

import pytest

from tenner_host import FIRMWARE, interpreters


def python(name):
    if name == "cpython":
        return (sys.executable,)
    try:
        return interpreters.FINDERS[name]().argv
    except interpreters.InterpreterMissing as exc:
        pytest.skip(str(exc))


# (name, the shell's redirection of standard input)
INPUTS = [("null", "</dev/null"), ("closed", "<&-"), ("file", "<config.json"), ("pipe", "")]


@pytest.mark.parametrize("interpreter", ["cpython", "micropython", "micropython32"])
@pytest.mark.parametrize(("name", "redirect"), INPUTS, ids=[name for name, _ in INPUTS])
def test_the_agent_starts(interpreter, name, redirect, tmp_path):
    (tmp_path / "workspace").mkdir()
    (tmp_path / "config.json").write_text(json.dumps({"name": "desk"}))
    path = interpreters.search_path(FIRMWARE)
    process = subprocess.Popen(
        ["sh", "-c", f'exec "$@" {redirect}', "sh", *python(interpreter), "-m", "tenner"],
        cwd=tmp_path,
        env={**os.environ, "TENNER_HOME": str(tmp_path), "PYTHONPATH": path, "MICROPYPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said = []
    process.stdin.close()
    try:
        # Without a task for HEARTBEAT.md it is the last word of a start, besides that of the
        # console.
        for line in process.stdout:
            said.append(line)
            log = "".join(said)
            if "failed" in log or ("heartbeat disabled" in log and "input has ended" in log):
                break
        else:
            pytest.fail(f"it ended: {''.join(said)}")
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert "Traceback" not in log and "failed" not in log, log
