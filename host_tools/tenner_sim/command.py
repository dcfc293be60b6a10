"""`tenner sim`: start virtual boards, and change the signals of a running one."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import rich_click as click
from click import get_current_context
from click.core import ParameterSource
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from tenner_host.board.options import sim_option
from tenner_host.board.sims import running_boards, sim_folder
from tenner_host.build import BuildError
from tenner_host.errors import CommandError
from tenner_host.interpreters import InterpreterMissing
from tenner_host.output import echo, iso, json_option, print_json
from tenner_sim.services import free_ports
from tenner_sim.vboard import BoardError, VirtualBoard
from tenner_sim.vboard.chips import MODELS
from tenner_sim.vboard.control import ControlClient


def _pick(name: str | None) -> tuple[str, dict[str, Any]]:
    """The running board called `name`, or the only one."""
    boards = running_boards()
    if name is None and len(boards) == 1:
        return next(iter(boards.items()))
    if name in boards:
        return str(name), boards[name]
    if not boards:
        raise CommandError("no virtual board is running; start one with `tenner sim start`")
    known = ", ".join(boards)
    if name is None:
        raise CommandError(f"several virtual boards are running; choose with --sim: {known}")
    raise CommandError(f"no virtual board named {name!r} is running; available: {known}")


def _ask(name: str | None, do: str, /, **arguments: Any) -> Any:
    _, description = _pick(name)
    try:
        client = ControlClient(description["socket"])
        try:
            return client.request(do, **arguments)
        finally:
            client.close()
    except BoardError as exc:
        raise CommandError(str(exc)) from exc


def _number(value: float) -> str:
    return f"{value:g}"


name_option = sim_option("name", "Which board; needed when several are running.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def sim() -> None:
    """Virtual boards: start one, change its signals, break its devices, cut its power."""


@sim.command()
@sim_option("name", "What to call it.", default="board")
@click.option(
    "--heap", default="192K", metavar="SIZE", show_default=True, help="Heap of the firmware."
)
@click.option(
    "--runtime",
    type=click.Choice(["micropython", "cpython"]),
    default="micropython",
    show_default=True,
    help="The firmware's interpreter.",
)
@click.option(
    "--flash",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="Flash image to start from; made with the firmware when it does not exist.",
)
@click.option(
    "--tcp",
    "tcp_port",
    type=int,
    metavar="PORT",
    default=None,
    help="Serial line on this TCP port.",
)
@click.option(
    "--rfc2217",
    "rfc2217_port",
    type=int,
    metavar="PORT",
    default=None,
    help="Serial line with DTR and RTS, which reset the chip, on this TCP port.",
)
@click.option("--chip", type=click.Choice(list(MODELS)), default=None, help="Kind of chip.")
@click.option("--fresh", is_flag=True, help="Forget the files of the last run.")
@click.option("--erased", is_flag=True, help="Start with an empty flash, as from the shop.")
def start(
    name: str,
    heap: str,
    runtime: str,
    flash: Path | None,
    tcp_port: int | None,
    rfc2217_port: int | None,
    chip: str | None,
    fresh: bool,
    erased: bool,
) -> None:
    """Start a board with the firmware; it runs until `tenner sim stop`.

    Stand-ins for a model and for Telegram run beside it, so `tenner setup` needs no account: the
    command prints what to answer there.
    """
    from tenner_host.build import firmware_tree

    running = running_boards().get(name)
    if running:
        _again(name, running)
        return
    try:
        tree = firmware_tree(mpy=runtime == "micropython") if fresh else None
        board = VirtualBoard(
            tree,
            name=name,
            heap=heap,
            runtime=runtime,
            flash=flash,
            tcp_port=tcp_port,
            rfc2217_port=rfc2217_port,
            chip=chip,
            erased=erased,
            services=free_ports(kept_ports(name)),
        ).start(detach=True)
        board.wait_started()
    except (BoardError, BuildError, InterpreterMissing, ValueError) as exc:
        raise CommandError(str(exc)) from exc
    _started(name, f"{name} runs", running_boards()[name], erased)


def _again(name: str, running: dict[str, Any]) -> None:
    """Report a second start: its options would have no effect."""
    context = get_current_context()
    given = sorted(
        f"--{parameter.replace('_port', '')}"
        for parameter in context.params
        if parameter != "name"
        and context.get_parameter_source(parameter) is ParameterSource.COMMANDLINE
    )
    if given:
        raise CommandError(
            f"{name} is already running, so {' '.join(given)} would do nothing: "
            f"`tenner sim stop --sim {name}` first"
        )
    _started(name, f"{name} is already running", running, False)


def _started(name: str, begin: str, description: dict[str, Any], erased: bool) -> None:
    """Print its ports and the next step."""
    echo(f"{begin}; its serial port is {description['pty'] or 'unplugged'}")
    for kind in ("tcp", "rfc2217"):
        if description[kind]:
            scheme = "socket" if kind == "tcp" else kind
            echo(f"and {scheme}://127.0.0.1:{description[kind]}")
    _print_answers(name, description)
    after = f"`tenner chat --sim {name}`"
    if erased:
        echo(f"Next: `tenner flash --fast --sim {name}`, as for a board from the shop")
    else:
        echo(
            f"Next: `tenner setup --sim {name}` once, then {after}; `tenner sim list` shows its "
            "signals"
        )


def _print_answers(name: str, description: dict[str, Any]) -> None:
    """Print the answers to the questions of `tenner setup`."""
    wifi, services = description["wifi"], description["services"]
    echo(f"Wi-Fi      {wifi['ssid']}, password {wifi['password']}")
    if not services:
        return
    llm, telegram = services["llm"], services["telegram"]
    echo("Stand-ins for the services, which need no account:")
    echo(f"model      provider other, {llm['base_url']}, chat, key {llm['api_key']}")
    echo(f"           model {llm['model']}; it follows fixed rules")
    echo(f"Telegram   token {telegram['base_url']}/bot{telegram['token']}")
    echo(f"           `tenner sim phone --sim {name}` is your phone there")


def kept_ports(name: str) -> Path:
    """The file that keeps the ports of a board's stand-ins."""
    folder = sim_folder() / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "ports.json"


@sim.command()
@click.argument("text", required=False, default="")
@name_option
def phone(text: str, name: str | None) -> None:
    """Show the messages on the owner's phone; with TEXT, write that to the board."""
    messages = _ask(name, "phone", text=text, look=not text)["messages"]
    if text:
        echo("sent; `tenner sim phone` shows the answer")
        return
    if not messages:
        echo("no message yet")
    for message in messages:
        panel = Panel(Text(message["text"]), title="Telegram", title_align="left", width=74)
        Console(highlight=False).print(panel)
        if message["buttons"]:
            echo("  " + "  ".join(f"[{button}]" for button in message["buttons"]))


@sim.command()
@name_option
def stop(name: str | None) -> None:
    """End a board. Its files stay for the next start."""
    _ask(name, "stop")


@sim.command(name="list")
@name_option
@json_option
def list_values(name: str | None, as_json: bool) -> None:
    """Show the running boards, their signals and their devices."""
    boards = running_boards()
    if name is not None or not (boards or as_json):
        boards = dict([_pick(name)])
    if as_json:
        print_json({"boards": [_as_json(each) for each in boards]})
        return
    for each in boards:
        status = _ask(each, "status")
        echo(f"{each}: {status['state']}, {status['runtime']}, {status['pty']}")
        there = _ask(each, "list")
        for value_name, value in there["signals"].items():
            echo(f"  {value_name:24} {_number(value)}")
        for device_name, device in there["devices"].items():
            fault = device["fault"] or "works"
            echo(f"  {device_name:10} {device['chip']:10} {device['where']:12} {fault}")


def _as_json(name: str) -> dict[str, Any]:
    status = _ask(name, "status")
    kept = "state runtime chip pty tcp rfc2217 folder boots wifi_up wifi_connected".split()
    return {
        "name": name,
        **{key: status[key] for key in kept},
        "heap_free_bytes": status["heap_free"],
        "true_time": iso(status["time"]),
        "board_time": iso(status["board_time"]),
        **_ask(name, "list"),
    }


@sim.command(name="set")
@click.argument("value_name", metavar="VALUE_NAME")
@click.argument("value", type=float)
@name_option
def set_value(value_name: str, value: float, name: str | None) -> None:
    """Change a physical value, e.g. `room.temperature 31.5`."""
    _ask(name, "set", name=value_name, value=value)


@sim.command()
@click.argument("value_name", metavar="VALUE_NAME")
@name_option
def get(value_name: str, name: str | None) -> None:
    """Print a physical value, or the level that a pin drives (`gpio3`)."""
    echo(_number(_ask(name, "get", name=value_name)))


@sim.command()
@click.argument("state", type=click.Choice(["up", "down"]))
@name_option
def wifi(state: str, name: str | None) -> None:
    """Switch the access point on or off; off cuts every connection."""
    _ask(name, "wifi", up=state == "up")


@sim.command()
@click.argument("action", type=click.Choice(["on", "off", "cycle", "cut"]))
@click.option(
    "--after-writes",
    default=0,
    metavar="COUNT",
    show_default=True,
    help="cut: at the write after so many.",
)
@click.option("--torn", is_flag=True, help="cut: leave that write half done.")
@name_option
def power(action: str, after_writes: int, torn: bool, name: str | None) -> None:
    """Plug in, pull the plug, do both, or cut power in the middle of writing to flash."""
    if action == "cut":
        _ask(name, "power_cut", after_writes=after_writes, torn=torn)
        return
    if action in ("off", "cycle"):
        _ask(name, "power_off")
    if action in ("on", "cycle"):
        _ask(name, "power_on")


@sim.command()
@click.argument("device")
@click.argument("kind")
@name_option
def fault(device: str, kind: str, name: str | None) -> None:
    """Break DEVICE: absent, nack, stuck, bad_crc, open ...; `none` repairs it."""
    _ask(name, "fault", device=device, kind=None if kind == "none" else kind)


@sim.command()
@click.option(
    "--after-bytes",
    type=int,
    metavar="COUNT",
    default=None,
    help="When so many more bytes were sent to it.",
)
@name_option
def unplug(after_bytes: int | None, name: str | None) -> None:
    """Pull the cable: its serial port is gone, and its power."""
    _ask(name, "unplug", after_bytes=after_bytes)


@sim.command()
@name_option
def plug(name: str | None) -> None:
    """Plug the cable in again; the serial port may have a new name."""
    echo(_ask(name, "plug")["pty"])


@sim.command()
@click.argument("device")
@click.argument("chip")
@click.argument("bus")
@click.argument("address", required=False)
@name_option
def attach(device: str, chip: str, bus: str, address: str | None, name: str | None) -> None:
    """Wire one more CHIP as DEVICE: `attach climate BME280 i2c0 0x76`,
    `attach probe DS18B20 gpio1`.

    BUS is i2c0 with an ADDRESS, spi0.0 or spi0.gpio3 (its chip select), or a pin. Its values are
    then climate.temperature and so on.
    """
    _ask(name, "attach", name=device, chip=chip, bus=bus, address=address)


@sim.command()
@click.argument("device")
@name_option
def detach(device: str, name: str | None) -> None:
    """Take DEVICE off its wires."""
    _ask(name, "detach", device=device)


@sim.command()
@name_option
def reset(name: str | None) -> None:
    """Press the reset button."""
    _ask(name, "reset")


@sim.command()
@click.option(
    "--advance",
    "advance_s",
    type=int,
    metavar="SECONDS",
    default=0,
    help="Let so many seconds pass.",
)
@click.option(
    "--drift",
    "drift_s",
    type=int,
    metavar="SECONDS",
    default=0,
    help="Put the board's clock wrong.",
)
@name_option
def clock(advance_s: int, drift_s: int, name: str | None) -> None:
    """Show the true and the board's time (Unix seconds), or move them."""
    times = _ask(name, "clock", advance_s=advance_s, drift_s=drift_s)
    echo(f"true {times['time']}, board {times['board_time']}")


@sim.command(name="repl-path")
@name_option
def repl_path(name: str | None) -> None:
    """Print the serial port, e.g. for `mpremote connect $(tenner sim repl-path)`."""
    echo(_pick(name)[1]["pty"])


@sim.command()
@click.option("--follow", "-f", is_flag=True, help="Keep printing new lines.")
@name_option
def log(follow: bool, name: str | None) -> None:
    """Print the board's serial line from its start."""
    found, description = _pick(name)
    path = str(Path(description["folder"]) / "serial.log")
    command = ["tail", "-n", "+1", *(["-f"] if follow else []), path]
    try:
        subprocess.run(command, check=False)
    except KeyboardInterrupt:
        echo(f"{found} keeps running")


if __name__ == "__main__":
    sim()
