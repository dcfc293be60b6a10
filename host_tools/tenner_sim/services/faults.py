"""Fault plans: the faults that a service applies to its next requests.

A plan is a list of `Step`. Each request takes the first step that fits its path, so steps for
different paths do not disturb each other. A request without a fitting step is answered normally.

    model.plan([Step(status=429, retry_after_s=2), Step(reset=10, where="body"), OK])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Where = Literal["reply", "headers", "body"]


@dataclass(frozen=True)
class Step:
    """One request's treatment. Fields combine; the default is an ordinary answer."""

    #: Only requests whose path contains this text take the step.
    path: str = ""
    #: Number of requests that take it.
    times: int = 1

    # --- before the answer -------------------------------------------------------------------
    #: Do this to the next connection, before TLS: "stall" stays silent, "reset" sends RST.
    connect: Literal["", "stall", "reset"] = ""
    #: Wait before the answer, and between its pieces (events of a stream).
    delay_ms: int = 0
    piece_delay_ms: int = 0

    # --- another answer ----------------------------------------------------------------------
    #: Answer with this status in the shape of the API's own errors, or with `body` if given.
    status: int = 0
    message: str = ""
    body: bytes | None = None
    retry_after_s: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    #: Put these bytes on the wire in place of the whole answer, head included.
    raw: bytes | None = None
    #: Answer with a body of this many bytes, or with one header of this many bytes more.
    huge_body: int = 0
    huge_header: int = 0

    # --- the same answer, with faults --------------------------------------------------------
    #: Go silent, reset (RST), or end (FIN, no close_notify) after this many bytes, counted from
    #: `where`. A reset may overtake the last bytes before the client has read them.
    stall: int | None = None
    reset: int | None = None
    cut: int | None = None
    where: Where = "reply"
    #: "said": `Connection: close` and close. "silent": promise to keep alive, then close.
    close: Literal["", "said", "silent"] = ""
    #: Bytes per write (a TLS record each), and per HTTP chunk.
    write_bytes: int = 0
    chunk_bytes: int = 0
    #: Send a body without length or chunks, ended by closing.
    until_close: bool = False

    # --- streams -----------------------------------------------------------------------------
    crlf: bool = False
    comments: bool = False
    no_done: bool = False
    #: End the stream after this many events; an error object follows if `error_event`.
    events: int | None = None
    error_event: str = ""
    #: Ignore `stream: true` and answer plain JSON.
    plain: bool = False

    def fits(self, path: str) -> bool:
        return not self.connect and self.path in path


#: An ordinary answer, to let a request pass in the middle of a plan.
OK = Step()

#: A reply that is not HTTP.
GARBAGE = Step(raw=b"\x00\xff\x16garbage\r\n\r\n<<<>>>", close="silent")

#: Accept the request and never answer.
STALL = Step(stall=0)

#: RST in place of an answer.
RESET = Step(reset=0)


@dataclass
class Plan:
    """The steps still to be taken. Not thread-safe: the owner locks."""

    steps: list[Step] = field(default_factory=list)

    def set(self, steps: Sequence[Step]) -> None:
        self.steps = list(steps)

    def take(self, path: str) -> Step | None:
        """Take the step for a request to `path`."""
        return self._take(lambda step: step.fits(path))

    def take_connect(self) -> Step | None:
        """Take the step for a new connection; only when it is next in the plan."""
        if self.steps and self.steps[0].connect:
            return self._take(lambda step: bool(step.connect))
        return None

    def _take(self, fits: Callable[[Step], bool]) -> Step | None:
        for index, step in enumerate(self.steps):
            if fits(step):
                if step.times > 1:
                    self.steps[index] = replace(step, times=step.times - 1)
                else:
                    del self.steps[index]
                return step
        return None
