"""`tenner setup`: ask, test on the board, write config.json and the certificates, pair the
owner."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import rich_click as click

from tenner_host import budget, libraries
from tenner_host.board.board import Board, Started
from tenner_host.board.opening import open_board
from tenner_host.board.options import board_options
from tenner_host.board.remote_board import RemoteBoard
from tenner_host.board.serial_board import SerialBoard
from tenner_host.console.console import Console
from tenner_host.errors import BoardSilent, CommandError, then
from tenner_host.output import at_terminal, echo, json_option, print_json
from tenner_host.places import read_text
from tenner_host.project import Project
from tenner_host.release import keys as release_keys
from tenner_host.setup import memory, questions
from tenner_host.setup import settings as store
from tenner_host.setup.checks import Trial
from tenner_host.setup.settings import Settings, get
from tenner_host.sync import code as codes
from tenner_host.sync.run import leave_as_it_was

#: A person reads, looks things up and types; no watchdog may fire meanwhile.
_TALK_S = 3600
_PAIR_S = 300.0
#: The offer comes among the first lines of a start.
_OFFER_S = 1.5
_OFFER = re.compile(r"this message: (\w+)")
_PAIRED = re.compile(r"paired: chat (\S+) is the owner")


@click.command()
@board_options
@click.option(
    "--from",
    "source",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=("Take settings from FILE (JSON) and ask nothing."),
)
@click.option(
    "--set",
    "assignments",
    metavar="KEY=VALUE",
    multiple=True,
    help=("Change one setting; @FILE or $NAME for its value, which secrets need."),
)
@click.option(
    "--ca",
    "ca_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=("Certificates (PEM) of an authority of your own, besides the public ones."),
)
@click.option(
    "--no-test",
    is_flag=True,
    help="Write the settings without trying them; no server need be reachable.",
)
@click.option("--show", is_flag=True, help="Print the settings the board has, without secrets.")
@click.option("--keys", is_flag=True, help="Print every key, and its meaning.")
@json_option
def setup(
    port: str | None,
    sim: str | None,
    source: Path | None,
    assignments: tuple[str, ...],
    ca_file: Path | None,
    no_test: bool,
    show: bool,
    keys: bool,
    as_json: bool,
) -> None:
    """Ask for Wi-Fi, model, Telegram and time. Each answer is tested on the board, then saved
    there.

    With --from or --set it asks nothing and changes only those settings. Secrets are never shown.
    The board gets the root certificates of the servers it talks to, and no others. They come from
    the public authorities, $SSL_CERT_FILE, --ca, and the board itself.
    """
    if keys:
        _print_keys(as_json)
        return
    asked = source is None and not assignments
    if asked and not show and (as_json or not at_terminal()):
        raise CommandError("there is no terminal to ask at: use --from FILE or --set KEY=VALUE")
    project = Project.find()
    with open_board(port, sim, project=project, remember=not show) as board:
        if asked and not show and isinstance(board, RemoteBoard):
            raise CommandError(
                "the questions need the cable, since their answers are tried on the board; with "
                "--via use --set KEY=VALUE or --from FILE"
            )
        settings = _present(board)
        if show:
            _print_settings(settings, as_json)
            return
        board.guard(_TALK_S if asked else 600)
        kept: list[str] = []

        def keep(part: str) -> None:
            store.check(settings, board)
            board.write_files({store.PATH: store.text(settings).encode()})
            kept.append(part)

        try:
            if source:
                given = store.parse(read_text(source), str(source))
                settings = store.merge(settings, given)
            for assignment in assignments:
                store.assign(settings, assignment)
            store.settle(settings, board)
            # The agent's modules would leave too little memory for TLS.
            board.fresh()
            trial = Trial(board, ca_file)
            expected = _shortage(board, project) if board.has_repl else ""
            if asked:
                questions.ask_all(trial, settings, keep)
                trial.trust(settings)
            elif no_test or isinstance(board, RemoteBoard):
                trial.trust(settings, offline=True)
            else:
                _try(trial, settings, quiet=as_json)
            trial.tidy()
            board.write_files({store.PATH: store.text(settings).encode()})
            if board.has_repl:
                _bring_keys(board, settings)
        except BaseException:
            leave_as_it_was(board)
            if kept:
                echo(f"\nKept so far: {', '.join(kept)}. `tenner setup` goes on.", err=True)
            raise
        started = board.restart()
        heard, short = started.heard, ""
        if expected and started.running and _has_channel(settings):
            if not no_test:
                heard = _with_offer(board, heard)
                short = _memory(board)
            if str(get(settings, "telegram.base_url")).startswith("https:"):
                short = short or expected
        _report(settings, trial, started, as_json, short)
        if not as_json:
            _tell_next(trial, settings, started, heard, asked=asked)
    if not started.running:
        raise CommandError(f"the settings are on the board, but no agent runs: {started.text}")


def _present(board: Board) -> Settings:
    data = board.read_files([store.PATH]).get(store.PATH)
    return store.parse(data.decode(errors="replace"), f"the board's {store.PATH}") if data else {}


def _bring_keys(board: Board, settings: Settings) -> None:
    """Bring the public keys of releases over the cable; the first setup makes the owner's key."""
    if not release_keys.ensure() and get(settings, "update.url"):
        echo(
            f"not made   {libraries.missing('your key for releases', libraries.CRYPTOGRAPHY)}, "
            "then run this again",
            fg="yellow",
            err=True,
        )
    there = board.read_files([release_keys.ON_BOARD])
    wanted = release_keys.board_files(there)
    if wanted.items() - there.items():
        board.write_files(wanted)


def _try(trial: Trial, settings: Settings, *, quiet: bool) -> None:
    """Run the tests, each of which may need the one before; the first failure ends them."""
    steps: list[tuple[str, Callable[[Settings], str | None]]] = [
        ("wifi.ssid" if trial.board.joins_wifi else "", trial.wifi),
        ("llm.model", trial.model),
        ("telegram.token", trial.telegram),
        ("llm.base_url", trial.trust),
    ]
    for key, step in steps:
        if key and get(settings, key):
            try:
                text = step(settings)
            except BoardSilent:
                raise
            except CommandError as exc:
                kept = "The settings were not changed (--no-test writes them without tests)"
                raise CommandError(then(exc.message, kept)) from exc
            if text and not quiet:
                echo(text)


def _shortage(board: Board, project: Project) -> str:
    """A sentence if the board has too little memory for Telegram by its chip, or ""."""
    info = board.info()
    name = codes.known_name(project, info)
    return budget.shortage(name, info.build.partition("-")[2], info.image is not None)


def _has_channel(settings: Settings) -> bool:
    """Does the agent connect by itself?"""
    return bool(get(settings, "telegram.token") or get(settings, "mqtt.host"))


def _memory(board: Board) -> str:
    """A sentence about the memory that the running agent has for its connections, or ""."""
    if not isinstance(board, SerialBoard):
        return ""
    console = Console(board.transport)
    try:
        return memory.watch(lambda: console.ask("/status"), lambda: time.sleep(memory.PAUSE_S))
    except CommandError:
        return ""  # its console is off, or the agent has ended


def _report(settings: Settings, trial: Trial, started: Started, as_json: bool, short: str) -> None:
    roots = trial.roots
    if as_json:
        print_json(
            {
                **store.for_programs(settings),
                "certificates": [
                    {"name": root.name, "hosts": root.hosts, "expires": root.until}
                    for root in roots
                ],
                "unproven": trial.unproven,
                "agent": started.as_json(),
                "memory": short or None,
            }
        )
        return
    for root in roots:
        warning = ": run `tenner setup` again before then" if root.ends_soon else ""
        echo(f"trusts     {root.subject} for {', '.join(root.hosts)}, until {root.until}{warning}")
    for sentence in trial.unproven:
        echo(f"not tried  {sentence}", fg="yellow", err=True)
    problem = store.nobody(settings)
    if problem:
        echo(f"telegram   {problem}", fg="yellow", err=True)
    if started.running:
        echo(f"agent      running: {started.text}")
    if short:
        echo(f"memory     {short}", fg="yellow", err=True)


def _with_offer(board: Board, heard: str) -> str:
    """The output of the board so far, with the offer of a pairing code if there is one."""
    deadline = time.monotonic() + _OFFER_S
    while not _OFFER.search(heard) and time.monotonic() < deadline:
        heard += board.hear(_OFFER_S)
    return heard


def _tell_next(
    trial: Trial, settings: Settings, started: Started, heard: str, *, asked: bool
) -> None:
    """Print the way to an owner, and the next commands."""
    board = trial.board
    # One that is reached from afar has its owner.
    if get(settings, "telegram.token") and not isinstance(board, RemoteBoard):
        if not board.has_repl:
            echo("owner      `/pair` in `tenner chat` makes the code for your chat")
        elif started.running:
            _pair(trial, settings, heard, wait=asked)
    if asked and started.running:
        echo("Next: `tenner sync` brings its files to this folder; `tenner chat` talks to it")


def _pair(trial: Trial, settings: Settings, heard: str, *, wait: bool) -> None:
    """If the agent offers a pairing code, show it and wait until a chat uses it."""
    text = _with_offer(trial.board, heard)
    offer = _OFFER.search(text)
    if offer is None:
        return  # it has an owner
    bot = f"@{trial.bot}" if trial.bot else "your bot"
    echo(f"owner      nobody yet: send {bot} on Telegram this message: {offer[1]}")
    sim = trial.board.port.sim
    if sim and str(get(settings, "telegram.base_url")).startswith("http://localhost:"):
        echo(f"           in another terminal: `tenner sim phone --sim {sim} {offer[1]}`")
    elif trial.bot:
        echo(f"           or open https://t.me/{trial.bot}?start={offer[1]}")
    if not wait:
        return
    echo("Waiting for it; Ctrl-C goes on without.", err=True)
    deadline = time.monotonic() + _PAIR_S
    try:
        while time.monotonic() < deadline:
            text = text[-4096:] + trial.board.hear(1.0)
            if _PAIRED.search(text):
                echo("That chat owns the agent now.")
                return
    except KeyboardInterrupt:
        echo("", err=True)
    echo("The code is good until the board restarts; `/pair` in `tenner chat` makes another.")


def _print_settings(settings: Settings, as_json: bool) -> None:
    found = dict(store.shown(settings))
    if as_json:
        print_json(store.for_programs(settings))
    elif not found:
        echo("the board has no settings yet: `tenner setup`")
    for key, value in () if as_json else found.items():
        echo(f"{key:28} {value}")


def _print_keys(as_json: bool) -> None:
    found = store.every_key()
    if as_json:
        print_json({"keys": [{"key": key, "meaning": meaning} for key, meaning in found]})
    for key, meaning in () if as_json else found:
        echo(f"{key:28} {meaning}")
