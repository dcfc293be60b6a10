"""Entry to the server: the pairing code, sessions, and the checks of each request's head."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

#: No letter that looks like a digit or another letter.
_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
_CODE_LETTERS = 10
#: Begins the code of a guest; an owner's has other letters.
GUEST = "LOOK"
#: Wrong codes in a row that are called wrong; then one in so many seconds.
TRIES = 5
SECONDS_A_TRY = 12.0
MAX_SESSIONS = 16
#: A session that nobody used for so long ends.
IDLE_S = 12 * 3600.0
COOKIE = "tenner_session"
#: The header with a session's token. Every request has it, not only changes: browsers send cookies
#: to all ports of a host, and the token to none.
TOKEN = "x-tenner-token"


class TooManyTries(Exception):
    """Wrong codes came too fast; the argument says after how many seconds the next may come."""


@dataclass
class _Session:
    token_hash: str
    used_at: float
    is_guest: bool


class Access:
    """Pairing codes and sessions of one server; `announce` gets each new code of an owner, and
    `announce_guest` that of a guest, who only looks. None: there are no guests."""

    def __init__(
        self,
        announce: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        announce_guest: Callable[[str], None] | None = None,
    ) -> None:
        self._announce = announce
        self._announce_guest = announce_guest
        self._clock = clock
        #: By the hash of their ids.
        self._sessions: dict[str, _Session] = {}
        self._tries = float(TRIES)
        self._tried_at = clock()
        #: The codes of the next pairings; "" for none.
        self.code = ""
        self.guest_code = ""
        self._renew(False)
        self._renew(True)

    @property
    def has_guests(self) -> bool:
        return self._announce_guest is not None

    def _renew(self, is_guest: bool) -> None:
        code = "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LETTERS))
        if not is_guest:
            self.code = code
            self._announce(code)
        elif self._announce_guest is not None:
            self.guest_code = GUEST + code
            self._announce_guest(self.guest_code)

    def pair(self, code: str) -> tuple[str, str] | None:
        """
        Return (session, token) for the right code, which is used up; None for a wrong one.

        Strangers' wrong codes never stop the right one, and cannot find it: it is one of 31 to the
        power of 10.
        """
        now = self._clock()
        self._tries = min(TRIES, self._tries + (now - self._tried_at) / SECONDS_A_TRY)
        self._tried_at = now
        given = "".join(code.upper().split()).replace("-", "")
        is_guest = given.startswith(GUEST)
        wanted = self.guest_code if is_guest else self.code
        if not wanted or not hmac.compare_digest(given.encode(), wanted.encode()):
            if self._tries < 1:
                raise TooManyTries((1 - self._tries) * SECONDS_A_TRY)
            self._tries -= 1
            return None
        self._tries = float(TRIES)
        session, token = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        if len(self._sessions) >= MAX_SESSIONS:
            oldest = min(self._sessions, key=lambda key: self._sessions[key].used_at)
            del self._sessions[oldest]
        self._sessions[_hash(session)] = _Session(_hash(token), now, is_guest)
        self._renew(is_guest)
        return session, token

    def allows(self, session: str | None, token: str | None) -> bool:
        """Do both belong to one session?"""
        key = _hash(session or "")
        known = self._sessions.get(key)
        if known is None or not hmac.compare_digest(known.token_hash, _hash(token or "")):
            return False
        now = self._clock()
        if now - known.used_at > IDLE_S:
            del self._sessions[key]
            return False
        known.used_at = now
        return True

    def is_guest(self, session: str | None) -> bool:
        """Does this session, which is allowed, only look?"""
        known = self._sessions.get(_hash(session or ""))
        return known is None or known.is_guest

    def end(self, session: str) -> None:
        self._sessions.pop(_hash(session), None)


def _hash(text: str) -> str:
    """Stored in place of a secret, and its look-up takes the same time for every wrong one."""
    return hashlib.sha256(text.encode()).hexdigest()


def head_problem(headers: Mapping[str, str], port: int) -> tuple[int, str] | None:
    """(status, sentence) for a request that no page of ours and no script on this computer would
    send.

    The Host check stops a foreign page whose name was rebound to 127.0.0.1, the others a foreign
    page that sends its requests here.
    """
    hosts = [f"127.0.0.1:{port}", f"localhost:{port}"]
    if headers.get("host", "").lower() not in hosts:
        return 421, f"this server answers only as {hosts[0]} and {hosts[1]}"
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in [f"http://{host}" for host in hosts]:
        return 403, "the request comes from a page of another site"
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return 403, "the request comes from a page of another site"
    return None
