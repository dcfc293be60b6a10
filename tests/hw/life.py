"""One life of a board: flashed, synced, set up, talked to, cut off from power, with MQTT and
without.

The model and Telegram are stand-ins on this computer, behind TLS; the board reaches them by the
network.
"""

from __future__ import annotations

import json
import math
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tenner_host import ROOT, tenner_version
from tenner_host.board.opening import open_line
from tenner_host.board.serial_board import SerialBoard
from tenner_host.build import compile_module
from tenner_host.errors import CommandError
from tenner_host.project import Project
from tenner_sim.services import Services
from tenner_sim.services.authority import LOOPBACK_NAMES
from tests.hw.broker import TlsFront, talker
from tests.hw.line import Line
from tests.hw.owner import Failed, Owner
from tests.hw.report import Report, Step
from tests.hw.turns import asks

SAMPLER = Path(__file__).parent / "onboard" / "hw_sampler.py"
_SENSORS = '{"chip": {"driver": "cpu"}}\n'
_QUIET = "# Heartbeat\n"
#: A condition that holds at each beat, which asks the model and tells the owner.
_BEAT = "# Heartbeat\n\n- (every 15s; when chip.uptime changes by 5) Say: the condition holds\n"
_TOPIC = "tenner-hw"
_EACH = 3  # messages by the broker, and as many by Telegram
_SAMPLE_LIMIT_S = 30.0
_TOLD = "the condition holds"
_RESTARTED = "I was restarted"


@dataclass(frozen=True)
class Options:
    """The run's options, and its board."""

    port: str
    board: str = "ESP32_GENERIC"
    #: The board's name for this computer, and the network that both are in.
    host: str = "localhost"
    ssid: str = ""
    password: str = ""
    ntp_host: str = ""
    #: An image to flash first; without one MicroPython is there already.
    image: Path | None = None
    turns: int = 50
    cuts: int = 4
    beats: int = 4
    #: HOST:PORT of an MQTT broker without TLS and password, with the board's name for it.
    broker: str = ""
    #: The chain of certificates that all servers send; None: each the one of a real server.
    chain: str | None = None
    #: How long a board may take for anything.
    patience_s: float = 240.0
    #: May `tenner setup` try Wi-Fi, model and Telegram?
    try_settings: bool = True


class Life:
    """The steps, in order. The files in `folder` are the owner's; `say` is called with each step
    when it is done."""

    def __init__(
        self,
        options: Options,
        services: Services,
        folder: Path,
        say: Callable[[str], None] = print,
    ) -> None:
        self.options = options
        self.services = services
        self.owner = Owner(services.telegram, options.patience_s)
        self.folder = folder
        self._say = say
        self._samples = False
        self.report = Report(f"tenner {tenner_version()} on {options.board} at {options.port}")

    def run(self) -> Report:
        """Do all steps; the report has the failures. A step that the others need ends the run when
        it fails."""
        wanted: list[tuple[str, Callable[[Step], None], bool]] = [
            ("clear", self._clear, True),
            ("sync", self._sync, True),
            ("setup", self._setup, True),
            ("sampler", self._install_sampler, True),
            ("chat", self._chat, False),
            ("boot", self._boot, True),
            ("turns", self._turns, False),
            ("beats", self._beats, False),
            ("power cuts", self._cuts, False),
        ]
        if self.options.image:
            wanted.insert(0, ("flash", self._flash, True))
        if self.options.broker:
            wanted += [
                ("MQTT over TLS", self._mqtt_tls, False),
                ("plain MQTT", self._mqtt_plain, False),
                ("MQTT off", self._mqtt_off, False),
            ]
        wanted.append(("clean up", self._clean_up, False))
        for name, work, needed in wanted:
            try:
                with self.report.step(name) as step:
                    work(step)
            except (Failed, CommandError, TimeoutError, OSError) as exc:
                self._say(f"{name}: FAILED: {exc}")
                if needed:
                    break
            else:
                self._say(f"{name}: {step.took_s:.1f} s {step.seen}")
        return self.report

    # The host's tools, as an owner uses them.

    def _tenner(self, *arguments: str, limit_s: float = 0) -> str:
        command = [
            sys.executable,
            "-m",
            "tenner_host.cli",
            arguments[0],
            "--port",
            self.options.port,
        ]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "host_tools"), "COLUMNS": "200"}
        try:
            done = subprocess.run(
                [*command, *arguments[1:]],
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=limit_s or self.options.patience_s * 3,
                check=False,
            )
        except subprocess.TimeoutExpired as exc:
            raise Failed(f"tenner {arguments[0]} had not ended after {exc.timeout:g} s") from exc
        if done.returncode:
            raise Failed(f"tenner {arguments[0]}: {(done.stderr or done.stdout).strip()[-400:]}")
        return done.stdout

    def _flash(self, step: Step) -> None:
        self._tenner("flash", "--board", self.options.board, "--image", str(self.options.image))
        step.seen = str(self.options.image)

    def _clear(self, step: Step) -> None:
        """Delete the state of an earlier run, as the stand-in for Telegram counts its messages
        from 1 again."""
        with self._board() as board:
            old = sorted(board.manifest(["/state"]))
            left = board.remove(old)
        if left:
            raise Failed(f"cannot be removed: {', '.join(left)}")
        step.seen = f"{len(old)} files of /state removed"

    def _sync(self, step: Step) -> None:
        report = json.loads(self._tenner("sync", "--board", self.options.board, "--json"))
        # The board's files have come here, so these go there.
        self._write(**{"HEARTBEAT.md": _QUIET, "SENSORS.json": _SENSORS})
        step.seen = f"{len(report['code']['written'])} files of code"

    def _write(self, **files: str) -> None:
        """Put files into the board's workspace, by way of the owner's."""
        for name, text in files.items():
            (self.folder / "workspace" / name).write_text(text)
        self._tenner("sync", "--board", self.options.board, "--json")
        if self._samples:
            self._put_sampler()  # sync has put main.py back

    def _setup(self, step: Step) -> None:
        o = self.options
        settings: dict[str, object] = dict(self.services.settings(poll_s=2))
        settings["heartbeat"] = {"dedup_h": 0}  # each beat says the same
        settings["wifi"] = {"ssid": o.ssid, "password": o.password}
        if o.ntp_host:
            settings["time"] = {"ntp_host": o.ntp_host}
        (self.folder / "settings.json").write_text(json.dumps(settings))
        (self.folder / "ca.pem").write_text(ssl.DER_cert_to_PEM_cert(self.services.ca_der))
        more = [] if o.try_settings else ["--no-test"]
        self._tenner("setup", "--from", "settings.json", "--ca", "ca.pem", *more)

    def _chat(self, step: Step) -> None:
        said = self._tenner("chat", "say: by the cable")
        if "by the cable" not in said:
            raise Failed(f"it said {said[-200:]!r}")

    # The board as it runs.

    def _install_sampler(self, step: Step) -> None:
        self._samples = True
        self.report.about += self._put_sampler()

    def _put_sampler(self) -> str:
        """Let main.py start the sampler; return a text about the board."""
        with self._board() as board:
            main = board.read_files(["/main.py"])["/main.py"].decode()
            code = compile_module(SAMPLER.read_bytes(), "hw_sampler.py")
            if "import hw_sampler" not in main:
                main = main.replace("\n    main(", "\n    import hw_sampler\n\n    main(", 1)
            board.write_files({"/lib/hw_sampler.mpy": code, "/main.py": main.encode()})
            info = board.info()
            board.restart()
        return f", MicroPython {info.micropython}, {info.machine}"

    def _clean_up(self, step: Step) -> None:
        with self._board() as board:
            main = board.read_files(["/main.py"])["/main.py"].decode()
            board.write_files({"/main.py": main.replace("    import hw_sampler\n\n", "").encode()})
            board.remove(["/lib/hw_sampler.mpy"])
            board.restart()

    def _board(self) -> SerialBoard:
        transport, port = open_line(self.options.port, project=Project(self.folder))
        try:
            transport.enter_raw_repl()
        except BaseException:
            transport.close()
            raise
        return SerialBoard(transport, port)

    def _boot(self, step: Step) -> None:
        """From power on to the first look for messages."""
        with Line(self.options.port) as line:
            try:
                step.seen = f"first poll after {self._restart(line):.1f} s"
            finally:
                self._keep(step, line)
        self._figure("chip.first_poll_s", float(step.seen.split()[-2]))

    def _restart(self, line: Line) -> float:
        """Cut the power, wait for the first poll, return how long that took."""
        polls = self.owner.polls()
        line.reset()
        begun = time.monotonic()
        try:
            self.owner.wait_polls(polls + 1)
        except TimeoutError as exc:
            raise Failed(f"no poll within {self.options.patience_s:g} s; {line.last()}") from exc
        polled = time.monotonic()
        line.wait_sample(self.options.patience_s)
        uptime_s = line.uptime_s(polled)
        return polled - begun if math.isnan(uptime_s) else uptime_s

    def _turns(self, step: Step) -> None:
        """Every kind of tool, one message after the other; the first that fails ends it."""
        spans: dict[str, list[tuple[float, float]]] = {}
        wrong: list[str] = []
        in_row = longest = 0
        with Line(self.options.port) as line:
            try:
                for ask in asks(self.options.turns):
                    mark, begun = line.count(), time.monotonic()
                    answer = self.owner.ask(ask.text, line)
                    kind = "plain" if ask.kind == "plain" else "tool"
                    spans.setdefault(kind, []).append((begun, time.monotonic()))
                    if ask.answer not in answer:
                        wrong.append(f"{ask.kind}: {answer[:120]!r}")
                    in_row = 0 if line.failures(mark) else in_row + 1
                    longest = max(longest, in_row)
            finally:
                line.wait_sample(_SAMPLE_LIMIT_S)
                self._keep(step, line)
                done = sum(len(of) for of in spans.values())
                step.seen = f"{done} answered, {longest} in a row without a failed connection"
                self._figure("chip.turns_in_row", longest)
                for kind, all_of_kind in spans.items():
                    of = [line.uptime_s(end) - line.uptime_s(begin) for begin, end in all_of_kind]
                    self._figure(f"chip.turn.{kind}_s", sorted(of)[len(of) // 2])
                    step.seen += f"; {kind} {min(of):.1f}-{max(of):.1f} s"
        if wrong:
            raise Failed(f"{len(wrong)} wrong: {'; '.join(wrong[:3])}")

    def _beats(self, step: Step) -> None:
        """An alarm every 15 s beside people."""
        self._write(**{"HEARTBEAT.md": _BEAT})
        with Line(self.options.port) as line:
            try:
                for number in range(self.options.beats):
                    # A beat, and somebody who writes meanwhile.
                    before = len(self.owner.told(_TOLD))
                    self.owner.wait_told(_TOLD, before + 1, line)
                    self.owner.ask(f"say: beside {number}", line, f"beside {number}")
                line.wait_sample(_SAMPLE_LIMIT_S)
            finally:
                self._keep(step, line)
                step.seen = f"{len(self.owner.told(_TOLD))} beats told"
        self._write(**{"HEARTBEAT.md": _QUIET})

    def _cuts(self, step: Step) -> None:
        """Power cuts while the model is asked: each is told once, or answered once, and nothing
        twice."""
        with Line(self.options.port) as line:
            try:
                for number in range(self.options.cuts):
                    word = f"cut {number}"
                    told, asked = len(self.owner.told()), len(self.services.model.requests)
                    self.owner.say(f"say: {word}")
                    self.services.model.wait_requests(asked + 1, self.options.patience_s)
                    self._restart(line)
                    self.owner.wait_told("", told + 1, line)
                    self.owner.ask(f"say: after {number}", line, f"after {number}")
                    new = self.owner.told()[told:]
                    about = [text for text in new if word in text or _RESTARTED in text]
                    if len(about) != 1:
                        raise Failed(f"cut {number}: told {about} instead of one of them")
            finally:
                self._keep(step, line)
        step.seen = f"{self.options.cuts} cuts, each told once"

    def _mqtt_tls(self, step: Step) -> None:
        authority = self.services.authority
        assert authority is not None
        context = authority.server_context(names=(*LOOPBACK_NAMES, self.options.host))
        with TlsFront(self.options.host, self._broker(), context) as front:
            self._mqtt(step, (self.options.host, front.port), "true")
            if not front.clients:
                raise Failed("the board has not connected over TLS")
            step.seen += f"; connected {front.clients} times"

    def _mqtt_plain(self, step: Step) -> None:
        self._mqtt(step, self._broker(), "false")

    def _broker(self) -> tuple[str, int]:
        host, _, port = self.options.broker.partition(":")
        return host, int(port or 1883)

    def _mqtt(self, step: Step, place: tuple[str, int], tls: str) -> None:
        """People at the broker and on Telegram, one after the other."""
        wanted = {"host": place[0], "port": place[1], "tls": tls, "topic": _TOPIC}
        settings = [one for key in wanted for one in ("--set", f"mqtt.{key}={wanted[key]}")]
        self._tenner("setup", "--no-test", "--ca", "ca.pem", *settings)
        spans: dict[str, list[float]] = {"the broker": [], "Telegram": []}
        with talker(self._broker(), _TOPIC) as owner, Line(self.options.port) as line:
            try:
                self._restart(line)
                line.wait(r"mqtt +connected", self.options.patience_s)
                for number in range(_EACH):
                    text = f"by the broker {number}"
                    answer, took_s = owner.ask(f"say: {text}", self.options.patience_s)
                    if text not in answer:
                        raise Failed(f"the broker brought {answer!r}")
                    spans["the broker"].append(took_s)
                    begun = time.monotonic()
                    self.owner.ask(f"say: by Telegram {number}", line, f"by Telegram {number}")
                    spans["Telegram"].append(time.monotonic() - begun)
                line.wait_sample(_SAMPLE_LIMIT_S)
            finally:
                self._keep(step, line)
                step.seen = "; ".join(
                    f"by {way} {min(of):.1f}-{max(of):.1f} s" for way, of in spans.items() if of
                )

    def _mqtt_off(self, step: Step) -> None:
        self._tenner("setup", "--no-test", "--ca", "ca.pem", "--set", "mqtt.host=")
        with Line(self.options.port) as line:
            try:
                self._restart(line)
                self.owner.ask("say: without the broker", line, "without the broker")
            finally:
                self._keep(step, line)

    def _keep(self, step: Step, line: Line) -> None:
        """Put the board's memory samples into the report."""
        step.samples = list(line.samples)
        for one in line.samples:
            for name, value, pick in (
                ("chip.gc_used_kb", one.gc_used, max),
                ("chip.idf_free_kb", one.idf_free, min),
                ("chip.idf_largest_kb", one.idf_largest, min),
                ("chip.idf_least_kb", one.idf_least, min),
            ):
                self._figure(name, pick(self.report.figures.get(name, value / 1024), value / 1024))

    def _figure(self, name: str, value: float) -> None:
        self.report.figures[name] = round(value, 1)


def live(options: Options, folder: Path, say: Callable[[str], None] = print) -> Report:
    """Run a life with services of its own."""
    with Services(host=options.host, chain=options.chain) as services:
        return Life(options, services, folder, say).run()


__all__: Sequence[str] = ("Failed", "Life", "Options", "live")
