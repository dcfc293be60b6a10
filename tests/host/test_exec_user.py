"""The tool exec of an agent that root does not run: its commands get namespaces instead of a
user."""

import os
import subprocess
import sys

import pytest

from tenner_host import ROOT

USER = 58999  # nobody's


def test_commands_of_another_user_are_contained_too():
    if os.getuid() != 0:
        pytest.skip("the whole of tests/test_tools_exec.py runs so here")
    as_user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    script = ROOT / "tests" / "test_tools_exec.py"
    # The test's own interpreter may lie where that user cannot go.
    for python in (sys.executable, "/usr/bin/python3"):
        look = [python, "-c", f"import asyncio; open({str(script)!r}).close()"]
        if subprocess.run([*as_user, *look], capture_output=True, check=False).returncode == 0:
            break
    else:
        pytest.skip("another user can reach neither an interpreter nor the repository here")
    folders = os.pathsep.join(str(ROOT / name) for name in ("firmware", "tests"))
    done = subprocess.run(
        [*as_user, python, "-B", str(script), "TestExec.test_a_command_stays_contained"],
        env={"PYTHONPATH": folders, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "skipped" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
