"""One board's update: it fetches the release, tries it, and stays with it or goes back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from tenner_host import overlay_maps
from tenner_host.catalog import chip_of
from tenner_host.errors import BoardSilent, CommandError
from tenner_host.release.release import About, is_newer
from tenner_host.remote.known import Known
from tenner_host.remote.link import Link
from tenner_host.update.server import ReleaseServer

#: How the last update has ended (firmware/tenner/update/trial.py).
_OUTCOME = "/state/update.txt"
_FAILED = " failed its trial: "
_LOG = "\nIts last log lines:\n"
#: Without a byte or a word of the board: longer than a trial, which ends after ten minutes.
_SILENT_S = 900.0
#: Without a step forward, however often the board starts: longer than a trial and its way back.
_STUCK_S = 1800.0
#: Without news the computer asks the board so soon, and then less and less often.
_ASK_S = 2.0
_ANSWER_S = 20.0
_TICK_S = 1.0


class End(Enum):
    """How a board's update ended."""

    HEALTHY = "healthy"
    HAD_IT = "had it"
    ROLLED_BACK = "rolled back"
    REFUSED = "refused"
    SILENT = "silent"
    AWAY = "away"
    UNFIT = "unfit"
    UNTOUCHED = "untouched"

    @property
    def is_good(self) -> bool:
        """Does the board run the new version?"""
        return self in (End.HEALTHY, End.HAD_IT)

    @property
    def is_bad(self) -> bool:
        """Does it speak against the new version, so that no other board should get it?"""
        return self in (End.ROLLED_BACK, End.REFUSED, End.SILENT)


@dataclass(frozen=True)
class Result:
    """`why` is a sentence, `log` the last lines of a version that failed its trial; `version` runs
    now, as far as it is known."""

    board: str
    end: End
    version: str = ""
    why: str = ""
    log: str = ""

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "end": self.end.value, "log": self.log.splitlines()}


#: Receives the name of a board and its next step.
Show = Callable[[str, str], None]


def misfit(offer: About, state: dict[str, Any]) -> str:
    """Return why a release is not for a board that is in this state, "" if it may be; the board
    has the last word."""
    chip = chip_of(state["machine"])
    if offer.chip and chip and chip != offer.chip.upper():
        return f"the release has MicroPython for the {offer.chip}, this board is an {chip}"
    if offer.chip and state.get("slots") == 1:
        return (
            "the release has MicroPython, for which this board has no second slot: run `tenner "
            "flash --layout ota` over the cable"
        )
    mpy = str(state["mpy"] & 0xFF)
    if offer.mpy and mpy != offer.mpy:
        return (
            f"the release has .mpy version {offer.mpy}, its MicroPython loads {mpy}: `tenner "
            "flash` brings another one"
        )
    if is_newer(offer.oldest, state["agent"]):
        return (
            f"the release replaces {offer.oldest} and newer, and it runs {state['agent']}: use "
            "`tenner sync` over the cable"
        )
    return ""


class Update:
    """The update of one board to the version of `offer`, which `server` serves at `address`;
    `scheme` is that of the way to the board (remote/known.py)."""

    def __init__(
        self,
        known: Known,
        offer: About,
        server: ReleaseServer,
        address: str,
        show: Show,
        stopped: threading.Event,
        scheme: str,
    ) -> None:
        self.known = known
        self._scheme = scheme
        self._offer = offer
        self._version = offer.version
        self._server = server
        self._address = address
        self._show = show
        self._stopped = stopped
        self._old = ""
        #: Has the board restarted since it has accepted the update?
        self._came_back = False
        self._up_s = 0
        self._in_trial = False
        self._lost_session = False
        #: Its part of the release's paths; "" before it was told one.
        self.path = ""

    def run(self) -> Result:
        """Update the board, and wait for the end of the trial."""
        try:
            link = Link(self.known, self._scheme)
        except CommandError as exc:
            return self._end(End.AWAY, exc.message)
        try:
            if away := link.way.away():
                return self._end(End.AWAY, away)
            early = self._begin(link)
            return early or self._wait(link)
        except BoardSilent as exc:
            return self._end(End.SILENT if self.path else End.AWAY, exc.message)
        except CommandError as exc:
            return self._end(End.REFUSED, exc.message)
        finally:
            link.close()

    def _end(self, end: End, why: str = "", log: str = "") -> Result:
        version = self._version if end.is_good else self._old
        return Result(self.known.label, end, version, why, log)

    def _begin(self, link: Link) -> Result | None:
        """Tell the board where the release is; a result if it needs none."""
        state, _ = link.ask("info")
        self._old = state["agent"]
        self._up_s = state["up_s"]
        if not is_newer(self._version, self._old):
            if self._old == self._version and not state["trial"]:
                return self._end(End.HAD_IT)
            return self._end(
                End.REFUSED, f"it runs {self._old}, and only a newer version is installed"
            )
        if why := misfit(self._offer, state):
            return self._end(End.UNFIT, why)
        path = self._server.path()
        link.ask(
            "update",
            self._server.certificate,
            version=self._version,
            address=self._address,
            port=self._server.port,
            path=path,
        )
        self.path = path
        self._show(self.known.label, f"fetches {self._version} in place of {self._old}")
        return None

    def _wait(self, link: Link) -> Result:
        fetched = 0
        heard_at = asked_at = moved_at = time.monotonic()
        was_in_trial = False
        pause_s = _ASK_S
        while not self._stopped.is_set():
            is_back = link.way.hear(_TICK_S)
            now = time.monotonic()
            if self._server.fetched(self.path) != fetched or self._in_trial != was_in_trial:
                was_in_trial = self._in_trial
                moved_at = now
            if is_back or self._server.fetched(self.path) != fetched:
                fetched = self._server.fetched(self.path)
                heard_at = now
                pause_s = _ASK_S
                self._came_back = self._came_back or is_back
            is_due = now - max(heard_at, asked_at) > pause_s and not link.way.is_off
            if is_back or is_due:
                found = self._ask(link, is_back)
                if found:
                    return found
                asked_at = time.monotonic()
                pause_s = min(2 * pause_s, link.way.most_s)
            if now - heard_at > _SILENT_S:
                return self._end(
                    End.SILENT,
                    f"nothing was heard from it for {_SILENT_S / 60:.0f} minutes; "
                    "`tenner fleet status` shows whether it comes back, with the old version or "
                    "the new",
                )
            if now - moved_at > _STUCK_S:
                return self._end(
                    End.SILENT,
                    f"its update has been stuck for {_STUCK_S / 60:.0f} minutes: `tenner status "
                    "--via` shows its version, and `tenner logs --via` why",
                )
        return self._end(End.SILENT, "stopped here; its update may go on")

    def _ask(self, link: Link, is_back: bool) -> Result | None:
        """Ask the board how its update goes; its end, if that has come."""
        try:
            if is_back or self._lost_session:
                link.open(_ANSWER_S)
                self._lost_session = False
            state, _ = link.ask("info", limit_s=_ANSWER_S)
            self._came_back = self._came_back or state["up_s"] < self._up_s
            self._up_s = state["up_s"]
            if state["trial"]:
                if not self._in_trial:
                    self._in_trial = True
                    self._show(self.known.label, f"tries {self._version}")
                return None
            if state["agent"] == self._version:
                return self._end(End.HEALTHY)
            result, text = link.ask("read", path=_OUTCOME, at=0, limit_s=_ANSWER_S)
        except BoardSilent:
            self._lost_session = True
            return None
        if not result.get("absent"):
            return self._outcome(text.decode(errors="replace"))
        if self._came_back and not state["updating"]:
            return self._end(
                End.REFUSED, "it restarted before the release was complete: update it again"
            )
        return None

    def _outcome(self, text: str) -> Result:
        what, _, log = text.partition(_LOG)
        if _FAILED in what:
            why = what.partition(_FAILED)[2].partition(". I run ")[0]
            return self._end(End.ROLLED_BACK, why, overlay_maps.translate(log))
        return self._end(End.REFUSED, what.removeprefix("No update: ").rstrip("."))
