"""A program on the 64-bit MicroPython that cuts the power at a flash operation, or starts after
the cut."""

import subprocess

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
