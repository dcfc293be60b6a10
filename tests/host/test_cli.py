"""The command as a whole: help that reads well, completion, exit statuses, JSON."""

import io
import json
import os
import re
import subprocess
import sys

import pytest
import rich_click as click
from click.testing import CliRunner
from rich.console import Console

from tenner_host import ROOT, errors, output
from tenner_host.cli import COMMANDS, GROUPS, main
from tenner_host.completion import script

#: Commands that report something, and so have `--json`.
REPORTS = (
    "backup boards chat doctor flash heartbeat logs pull restore setup status sync why".split()
)


def run(*arguments, environment=None):
    return CliRunner().invoke(main, arguments, prog_name="tenner", env=environment)


def test_help_lists_every_command_without_reading_its_module():
    code = (
        "import sys\nfrom tenner_host.cli import main\n"
        "try:\n    main(['--help'], prog_name='tenner')\nexcept SystemExit:\n    pass\n"
        "print(sorted(name for name in sys.modules if name.startswith(('tenner_host.', "
        "'tenner_sim'))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name, (_, _, about) in COMMANDS.items():
        assert re.search(rf"│ {name} +\S", done.stdout), name
        assert about in re.sub(r"\s+", " ", done.stdout.replace("│", "")), about
    assert done.stdout.splitlines()[-1] == "['tenner_host.cli', 'tenner_host.errors']"


def test_every_command_is_in_one_group():
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)


def commands(group, path=()):
    """Every command with its words, those of groups too."""
    for name in sorted(group.list_commands(None)):
        command = group.get_command(None, name)
        yield (*path, name), command
        if hasattr(command, "list_commands"):
            yield from commands(command, (*path, name))


ALL = dict(commands(main))


def test_every_option_says_what_it_is_and_what_its_value_is():
    for words, command in ALL.items():
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert parameter.help, (words, parameter.name)
                kind = parameter.make_metavar(click.Context(command))
                assert parameter.is_flag or kind not in ("TEXT", "INTEGER", "FLOAT"), words


def documents():
    return [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "boards").glob("**/*.md")]


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_in_the_documentation_are_there(path):
    """Those in code: a line of a block, or between two backquotes."""
    text = path.read_text()
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    lines += re.findall(
        r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    )
    for line in lines:
        for found in re.findall(r"(?:^|(?<!-m)[ $(])tenner ([a-z](?:[a-z-]+ ?)+[^)|#]*)", line):
            words = found.split()
            known = max(
                (words[:n] for n in (1, 2) if tuple(words[:n]) in ALL), key=len, default=None
            )
            assert known, line
            options = {name for parameter in ALL[tuple(known)].params for name in parameter.opts}
            for word in re.findall(r"(?:^|[ \[])(--?[a-z][a-z0-9-]*)", found):
                assert word in options | {"--help", "-h"}, line


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_of_its_own(name):
    done = run(name, "--help")
    assert done.exit_code == 0, done.output
    assert f"Usage: tenner {name}" in done.output
    command = main.get_command(None, name)
    assert command.help and command.help.partition("\n\n")[0].endswith((".", ":")), command.help
    assert ("--json" in done.output) or name not in REPORTS


@pytest.mark.parametrize(
    "words",
    [words for words, one in ALL.items() if any("--json" in each.opts for each in one.params)],
    ids=" ".join,
)
def test_each_json_command_has_an_error_object(words):
    """With wrong usage, which each of them refuses."""
    done = run(*words, "--json", "--nonsense")
    assert (done.exit_code, json.loads(done.stdout)["error"]["exit"]) == (2, 2)


def test_a_slip_is_guessed():
    done = run("snyc")
    assert (done.exit_code, "Did you mean 'sync'?" in done.output) == (2, True)
    done = run("frobnicate")
    assert done.exit_code == 2 and "Did you mean" not in done.output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion_installs_and_completes(shell, tmp_path):
    environment = {
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "ZDOTDIR": str(tmp_path),
        "SHELL": f"/bin/{shell}",
    }
    done = run("completion", "--install", environment=environment)
    assert done.exit_code == 0, done.output
    path = re.search(r"is in (\S+);", done.stdout)[1]
    assert path.startswith(str(tmp_path))
    assert open(path).read().strip() == script(shell).strip()
    assert "_TENNER_COMPLETE" in run("completion", environment=environment).stdout


# (the typed words, the completions)
COMPLETIONS = [
    ("tenner sy", ["sync"]),
    ("tenner sync --d", ["--dry-run", "--delete"]),
    ("tenner completion z", ["zsh"]),
    ("tenner sim po", ["power"]),
]


@pytest.mark.parametrize("shell", ["bash", "powershell"])
@pytest.mark.parametrize(("typed", "offered"), COMPLETIONS)
def test_what_completion_offers(typed, offered, shell):
    words = typed.split()
    environment = {
        **os.environ,
        "_TENNER_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
        "COMP_WORD": words[-1],
    }
    done = subprocess.run(
        [sys.executable, "-m", "tenner_host.cli"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = [re.sub(r"^plain,|\t.*", "", line) for line in done.stdout.splitlines()]
    assert lines == offered, done.stderr


def test_an_unknown_shell_is_a_sentence():
    done = run("completion", environment={"SHELL": "/bin/nu"})
    assert (done.exit_code, done.stderr) == (
        1,
        "tenner: there is completion for bash, zsh, fish, powershell: name one of them\n",
    )


def test_every_exit_status_is_documented():
    page = (ROOT / "docs" / "tenner.md").read_text()
    help_text = re.sub(r"\s+", " ", run("--help").output)
    for name in dir(errors):
        kind = getattr(errors, name)
        if isinstance(kind, type) and issubclass(kind, errors.CommandError):
            assert f"| {kind.exit_code} |" in page, name
            assert f" {kind.exit_code} " in help_text, name


def test_a_bar_says_only_what_is_known():
    assert output.amount(0, None, None) == ""
    assert output.amount(0, 2048, None) == ""
    assert output.amount(1536, None, None) == "1.5 KB"
    assert output.amount(1536, 3072, 1024) == "1.5 of 3.0 KB, 1.0 KB/s"
    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, width=100)
    with output.step_bar("Starting", terminal) as step:
        step(0, 0)
    assert "Starting" in shown.getvalue()
    assert "?" not in re.sub(r"\x1b\[\?25[lh]", "", shown.getvalue())
