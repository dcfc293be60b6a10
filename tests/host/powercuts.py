"""A program on the 64-bit MicroPython that cuts the power at a flash operation, or starts after
the cut."""

import os
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tenner_host.interpreters import search_path
from tenner_sim import LIMIT_S


def program(micropython, path, *folders):
    """A function that runs the program with its arguments to its end, and returns its last line;
    the program imports from `folders`."""

    def run(*arguments):
        done = subprocess.run(
            micropython.command(path, *arguments, heap="16M"),
            env={"MICROPYPATH": search_path(*folders)},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()[-1]

    return run


def cut_everywhere(run, folder, outcome, torn, least):
    """Cut the power at every flash operation of an update, more than `least` of them, and start
    after each cut: all of the old or all of the new is there."""
    image = folder / "flash"
    run("make", image, folder)
    operations = int(run("cut", image, folder, outcome, torn).split()[0])
    # Or the test would say nothing.
    assert operations > least
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(
            pool.map(lambda number: run("after", f"{image}.{number}", folder), range(operations))
        )
    wrong = [
        f"operation {n}: {what}" for n, what in enumerate(found) if what not in ("old", "new")
    ]
    assert wrong == []
    assert found[0] == "old"
    assert found[-1] == ("new" if outcome == "pass" else "old")
    print(Counter(found))
