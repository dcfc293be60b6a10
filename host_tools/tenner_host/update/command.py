"""`tenner update`: the command."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import rich_click as click

from tenner_host import tenner_version
from tenner_host.board.options import via_option
from tenner_host.errors import BoardSilent, CommandError
from tenner_host.output import echo, json_option, print_json, step_bar
from tenner_host.project import Project
from tenner_host.release import keys
from tenner_host.release.release import Release, about, check_notes, code_of, signed
from tenner_host.remote import known
from tenner_host.remote.known import Known
from tenner_host.update import staged
from tenner_host.update.one import End, Result, Update
from tenner_host.update.server import ReleaseServer, address_towards

_FAMILY = "esp32"
#: Older versions know no such request.
_OLDEST = "0.2.0"


@click.command()
@click.argument("boards", nargs=-1, metavar="[BOARD]...")
@click.option("--fleet", is_flag=True, help="Every board that this computer knows on this way.")
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Install this file of `tenner release`. The default is tenner's own code, signed now.",
)
@click.option(
    "--at-once",
    type=click.IntRange(1, 50),
    default=3,
    show_default=True,
    metavar="N",
    help="How many boards at a time, after the first one.",
)
@click.option(
    "--address",
    metavar="ADDRESS",
    help="This computer's address, as the boards see it. Usually it's found.",
)
@click.option(
    "--listen",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="PORT",
    help="The port that boards fetch from, if a firewall needs one.",
)
@via_option
@json_option
def update(
    via: str | None,
    boards: tuple[str, ...],
    fleet: bool,
    file: Path | None,
    at_once: int,
    address: str | None,
    listen: int,
    as_json: bool,
) -> None:
    """Install a signed release on boards behind an MQTT broker, or in your network with --via lan.

    BOARD is a name, a topic or its end, or with --via lan an address; the default is this folder's
    board. Boards fetch the release from this computer over TLS and try it out. With several
    boards, one goes first, and no more are started after a failure. Boards that the release isn't
    for are skipped.
    """
    scheme, name = known.way_of(via or known.MQTT)
    if name and (boards or fleet):
        raise click.UsageError("--via names a board: leave --fleet and the names out")
    wanted = _chosen(boards or ((name,) if name else ()), fleet, scheme)
    data = file.read_bytes() if file else _made()
    offer = about(data)
    if offer.family != _FAMILY:
        raise CommandError(
            f"{file} is a release for {offer.family}, and these boards are {_FAMILY}"
        )
    # In time: the links to the boards need the key that signs.
    keys.load()
    address = address or address_towards(
        wanted[0].host if scheme == known.MQTT else wanted[0].address
    )
    stopped = threading.Event()
    running: list[Update] = []

    def one(show: Callable[[str, str], None], board: Known) -> Result:
        made = Update(board, offer, server, address, show, stopped, scheme)
        running.append(made)
        result = made.run()
        show(board.label, _sentence(result))
        return result

    with ReleaseServer(data, "", listen) as server:
        if not as_json:
            echo(f"version {offer.version}, {len(data)} bytes, at {address}:{server.port}")
        with _shown(server, running, as_json) as show:
            found = staged.run(wanted, partial(one, show), at_once, stopped)
    _report(found, as_json)


def _chosen(names: tuple[str, ...], fleet: bool, scheme: str) -> list[Known]:
    if fleet and names:
        raise click.UsageError("--fleet means every board: leave the names out")
    if fleet:
        boards = known.every(scheme)
        if boards:
            return boards
    # Without names: the board of this folder, or the sentence why there is none.
    chosen = [known.find(name, Project.find(), scheme) for name in names or ("",)]
    return list({one.device: one for one in chosen}.values())


def _made() -> bytes:
    version = tenner_version()
    return signed(
        Release(version, _FAMILY, _OLDEST, check_notes(""), code_of(version, _FAMILY)), keys.load()
    )


@contextlib.contextmanager
def _shown(
    server: ReleaseServer, running: list[Update], quiet: bool
) -> Iterator[Callable[[str, str], None]]:
    """Print a line for each thing that a board does, and a bar of the bytes that they have
    fetched."""
    if quiet:
        yield lambda _board, _text: None
        return
    from rich.console import Console

    ended = threading.Event()
    with step_bar("fetched", Console(stderr=True)) as step:

        def move() -> None:
            while not ended.wait(0.2):
                paths = [one.path for one in list(running) if one.path]
                done = sum(server.fetched(path) for path in paths)
                step(done, len(paths) * len(server.body))

        mover = threading.Thread(target=move, daemon=True)
        mover.start()
        try:
            yield lambda board, text: echo(f"{board}: {text}")
        finally:
            ended.set()
            mover.join()


def _sentence(result: Result) -> str:
    runs = f"runs {result.version}" if result.version else ""
    if result.end is End.HEALTHY:
        return f"healthy, {runs}"
    if result.end is End.HAD_IT:
        return f"{runs} already"
    if result.end is End.ROLLED_BACK:
        lines = "".join(f"\n    {line}" for line in result.log.strip().split("\n"))
        return f"rolled back, {runs} again: {result.why}. Its last log lines:{lines}"
    return f"{result.end.value}: {result.why}"


def _report(found: list[Result], as_json: bool) -> None:
    """Print which boards run which version; raise unless all run the new one."""
    if as_json:
        print_json({"boards": [one.as_json() for one in found]})
    elif len(found) > 1:
        for end in End:
            names = [one.board for one in found if one.end is end]
            if names:
                color = "green" if end.is_good else "red" if end.is_bad else "yellow"
                echo(f"{end.value:11} {len(names):3}  {', '.join(names)}", fg=color)
    bad = [one for one in found if not one.end.is_good]
    if not bad:
        return
    worst = next((one for one in bad if one.end.is_bad), None)
    if worst is None and all(one.end is End.UNFIT for one in bad):
        if len(bad) < len(found):
            return
        raise CommandError(f"{', '.join(one.board for one in bad)}: {bad[0].why}")
    if worst is None:
        raise BoardSilent(f"{', '.join(one.board for one in bad)}: {bad[0].why}")
    text = f"{worst.board} {worst.end.value}: {worst.why}"
    left = sum(one.end is End.UNTOUCHED for one in found)
    raise CommandError(f"{text}; {left} untouched" if left else text)
