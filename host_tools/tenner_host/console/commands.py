"""`tenner chat`, `why`, `status`, `heartbeat` and `logs`, while the agent runs on."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import rich_click as click

from tenner_host import prompts
from tenner_host.board.opening import open_as, open_board, open_line
from tenner_host.board.options import board_options
from tenner_host.board.ports import Port
from tenner_host.board.remote_board import RemoteBoard
from tenner_host.board_clock import Clock, clock_of
from tenner_host.console import answers
from tenner_host.console.console import LOG_LINE, TURN_LIMIT_S, Console, Kind, Said, failing
from tenner_host.errors import CommandError
from tenner_host.output import at_terminal, echo, json_option, json_text, print_json
from tenner_host.project import Project
from tenner_host.remote.known import is_remote

_RUN_LOG = "/state/runs.jsonl"
_FOREVER_S = 3600.0
#: Areas of the log in colors, as `make run` shows them.
_COLORS = {
    "heartbeat": "magenta",
    "llm": "yellow",
    "agent": "yellow",
    "tool": "green",
    "telegram": "cyan",
    "clock": "blue",
    "wifi": "blue",
    "app": "red",
    "config": "red",
}


def _console(port: str | None, sim: str | None) -> Console:
    return Console(open_line(port, sim)[0])


def _ask(port: str | None, sim: str | None, *commands: str) -> list[list[str]]:
    """Return the lines of the agent's answer to each command."""
    if port and is_remote(port):
        with open_as(RemoteBoard, Port(port), Project.find(), remember=False) as board:
            return [board.say(line).splitlines() for line in commands]
    with _console(port, sim) as console:
        return [console.ask(line) for line in commands]


def _asked(port: str | None, sim: str | None, command: str) -> list[str]:
    """Print the agent's answer to a command, and return its lines."""
    (answer,) = _ask(port, sim, command)
    problem = answers.refusal(answer)
    if problem:
        raise CommandError(problem)
    echo("\n".join(answer))
    return answer


@click.command()
@board_options
@json_option
def why(port: str | None, sim: str | None, as_json: bool) -> None:
    """Show the heartbeat's latest decisions with their reasons, and the next steps."""
    if as_json:
        print_json(answers.why(*_ask(port, sim, "/why json")))
    else:
        _asked(port, sim, "/why")


@click.command()
@click.argument("words", nargs=-1)
@board_options
@json_option
def alarms(words: tuple[str, ...], port: str | None, sim: str | None, as_json: bool) -> None:
    """Show the alarms, or change one: ack ID, mute ID [2h], unmute ID, why ID. An ID is a number,
    or `line 5`. If the agent refuses, the exit status is 1."""
    if as_json:
        first = [" ".join(("/alarms", *words))] if words else []
        *said, listed = _ask(port, sim, *first, "/alarms json")
        answer = "\n".join(said[0]) if said else None
        print_json({"alarms": answers.tasks(listed), "answer": answer})
        if said and (problem := answers.refusal(said[0])):
            raise CommandError(problem)
    else:
        _asked(port, sim, " ".join(("/alarms", *words)))


@click.command()
@board_options
@json_option
def status(port: str | None, sim: str | None, as_json: bool) -> None:
    """Show how the agent is doing: uptime, heap, network, clock, unsent messages, failing parts.

    While a part of the agent fails, the exit status is 1.
    """
    if as_json:
        found = answers.status(*_ask(port, sim, "/status json"))
        wrong = [one["name"] for one in found["services"] if one["state"] != "running"]
        print_json(found, f"parts of the agent are failing: {', '.join(wrong)}" if wrong else "")
    else:
        wrong = failing(_asked(port, sim, "/status"))
    if wrong:
        raise SystemExit(1)


@click.command()
@board_options
@click.option("--now", is_flag=True, help="Run it now, and wait for the outcome.")
@click.option(
    "--check",
    is_flag=True,
    help="Print the errors in FILE; the default is the workspace's HEARTBEAT.md.",
)
@click.option(
    "--compile",
    "compiles",
    is_flag=True,
    help="Let the model turn lines of prose in FILE into rules; print a diff.",
)
@click.option(
    "--replay",
    is_flag=True,
    help="Run FILE against readings, without a model; print its messages.",
)
@click.option(
    "--readings",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="For --replay: a CSV file with lines time,sensor.value,number, or a folder with a "
    "board's /state; "
    "without it those that the board has kept.",
)
@click.option("--hours", default="", metavar="HH:MM-HH:MM", help="For --replay: the active hours.")
@click.option("--zone", default="UTC0", metavar="TZ", help="For --replay: the time zone.")
@click.option(
    "--price", default=0.5, metavar="USD", help="For --replay: the price of a million tokens."
)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@json_option
def heartbeat(
    port: str | None,
    sim: str | None,
    now: bool,
    check: bool,
    compiles: bool,
    replay: bool,
    readings: Path | None,
    hours: str,
    zone: str,
    price: float,
    file: Path | None,
    as_json: bool,
) -> None:
    """Show each task of the heartbeat: its values, its state, its next step. With --now, run it.

    --compile asks your model to turn each line of prose that names a sensor, a time or a number
    into a rule. It changes no file; `patch` applies the diff that it prints.

    --check and --replay run the firmware's own code on this computer, without a board. Without
    --readings, --replay reads those of the board; the agent is stopped and started again for that.
    """
    if now + check + compiles + replay > 1:
        raise click.UsageError("only one of --now, --check, --compile and --replay")
    if check or compiles or replay:
        from tenner_host.heartbeat import command

        if check:
            command.check(file, as_json)
        elif compiles:
            command.compile_prose(file, as_json)
        else:
            settings = {"heartbeat.active_hours": hours, "time.zone": zone}
            command.run(file, readings, (port, sim), settings, price, as_json)
        return
    if not now:
        if as_json:
            print_json({"tasks": answers.tasks(*_ask(port, sim, "/heartbeat json"))})
        else:
            _asked(port, sim, "/heartbeat")
        return
    with _console(port, sim) as console:
        # Type nothing more meanwhile: its echo could get into the outcome.
        console.say("/trigger")
        for said in console.said(TURN_LIMIT_S):
            line = said.text
            # Before the outcome, the answer has a line for each condition.
            if said.kind is Kind.ANSWER and line.splitlines()[-1].startswith("heartbeat: "):
                break
            if not as_json and said.kind is not Kind.READY:
                _show_line(line)
        else:
            raise CommandError(
                f"the heartbeat didn't finish within {TURN_LIMIT_S:g} s; see `tenner logs -f`"
            )
    if as_json:
        print_json(answers.heartbeat_now(line))
    else:
        echo(line)
    *_, outcome = line.splitlines()
    if outcome.startswith("heartbeat: retry"):
        raise CommandError("the heartbeat didn't finish: the board will try again by itself")


@click.command()
@click.argument("text", nargs=-1)
@board_options
@json_option
def chat(text: tuple[str, ...], port: str | None, sim: str | None, as_json: bool) -> None:
    """Say TEXT to the agent and print its answer. Without TEXT, talk until Ctrl-D.

    You talk as the owner here, and the agent asks you for approval. Piped lines go one by one,
    each after the last answer. If there's no answer, the exit status is 1.
    """
    words = " ".join(text)
    if text and not words.strip():
        raise click.UsageError("TEXT is empty: there is nothing to say")
    if as_json and not text:
        raise click.UsageError("--json needs TEXT")
    if not text and sys.stdin.isatty():
        _talk(port, sim)
        return
    failed = []
    with _console(port, sim) as console:
        for line in [words] if text else sys.stdin:
            if not line.strip():
                continue
            said = _exchange(console, line)
            if said.failed:
                failed.append(said.text)
            if as_json and not said.failed:
                print_json({"text": line, "answer": said.text})
            elif not said.failed:
                echo(said.text)
            elif not text:
                # The next line is sent in any case.
                echo(f"tenner: {said.text}", err=True)
    if failed:
        raise CommandError(failed[0] if text else f"{len(failed)} lines had no answer, see above")


def _exchange(console: Console, text: str) -> Said:
    """Say something and return the answer."""
    answer = Said(Kind.ANSWER, "")
    for said in console.chat(text):
        if said.kind is Kind.QUESTION:
            # Nobody is at the terminal: no is the answer without an effect.
            yes = at_terminal() and prompts.confirm(said.text.removesuffix(" [y/n]"))
            console.answer(yes)
        else:
            answer = said
    return answer


def _typed() -> SimpleQueue[str]:
    """Lines as they are typed, "" at the end. A thread reads them: Windows cannot wait for keys
    and a port at once."""
    lines: SimpleQueue[str] = SimpleQueue()

    def read() -> None:
        # Without the buffer of sys.stdin, whose lock must be free when the program ends.
        with open(0, "rb", buffering=0, closefd=False) as keys:
            while line := keys.readline():
                lines.put(line.decode(errors="replace"))
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    return lines


def _talk(port: str | None, sim: str | None) -> None:
    """Send the person's lines to the agent, print the agent's lines, and hide log lines."""
    with _console(port, sim) as console:
        echo("Talk to your agent; /help lists its commands, Ctrl-D ends this.", err=True)
        console.begin()
        lines = _typed()
        while True:
            while not lines.empty():
                line = lines.get()
                if not line:
                    return
                if line.strip():
                    console.type(line)
            console.transport.wait(0.1)
            for said in console.said(0):
                if said.kind is Kind.QUESTION:
                    echo(said.text, fg="cyan", bold=True)
                elif said.kind is Kind.ANSWER:
                    echo(said.text, fg="cyan")


@click.command()
@board_options
@click.option("--follow", "-f", is_flag=True, help="Print the board's log live.")
@click.option(
    "--lines",
    "-n",
    "count",
    default=20,
    metavar="COUNT",
    show_default=True,
    help="How many to show.",
)
@json_option
def logs(port: str | None, sim: str | None, follow: bool, count: int, as_json: bool) -> None:
    """Show the latest runs of the heartbeat and the jobs. With -f, follow the log live.

    To read the list of runs, the agent is stopped and started again; -f only listens.
    """
    if follow:
        with _console(port, sim) as console:
            echo("listening; Ctrl-C ends this, the agent keeps running", err=True)
            while True:
                for line in console.lines(_FOREVER_S):
                    if as_json:
                        click.echo(json_text(answers.log_line(line)))
                    else:
                        _show_line(line)
    with open_board(port, sim) as board:
        data = board.read_files([_RUN_LOG]).get(_RUN_LOG, b"")
        clock = clock_of(board)
    entries = list(answers.entries(data.decode(errors="replace").splitlines()))[-count:]
    if as_json:
        print_json({"runs": [answers.run(entry) for entry in entries]})
    elif not entries:
        echo("the heartbeat and the jobs have not run yet")
    else:
        for entry in entries:
            echo(_sentence(entry, clock))


def _sentence(entry: dict[str, Any], clock: Clock) -> str:
    """One record of the run log, for people."""
    at = entry.get("t")
    when = f"{clock(at):%Y-%m-%d %H:%M:%S %Z}" if at else f"+{entry.get('up', 0)} s"
    what = entry.get("job") or (
        "heartbeat" if entry.get("k") == "beat" else f"line {entry.get('n', '?')}"
    )
    parts = [str(entry.get("r", "?"))]
    for key, text in (
        ("why", "{}"),
        ("sent", "sent: {}"),
        ("tokens", "{} tokens"),
        ("ms", "{} ms"),
    ):
        if entry.get(key) not in (None, ""):
            parts.append(text.format(entry[key]))
    return f"{when}  {what}: {', '.join(parts)}"


def _show_line(line: str) -> None:
    found = LOG_LINE.match(line)
    if found:
        echo(line, fg=_COLORS.get(found[2]))
    else:
        echo(line, bold=True)
