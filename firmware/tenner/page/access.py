# tenner page.access: the pairing code and its offer, and the sessions of browsers.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A session has two halves: a cookie, which scripts of a page cannot read, and a token, which
browsers send nowhere by themselves. `state/browsers.json` has a hash of both, so that a restart
ends no session and the file lets nobody in.

The code and the cookie of a guest begin with GUEST. The hash covers the cookie as it is, so nobody
gains by taking the beginning off.
"""

import json
from binascii import hexlify
from hashlib import sha256
from os import urandom

from tenner.channels import pairing_code
from tenner.page.request import GUEST
from tenner.port.compat import const
from tenner.remote.session import is_same
from tenner.store import files, json_strict, quarantine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tenner.page.types import Guarded


_FILE = "/browsers.json"
_CODE_LETTERS = const(10)
_CODE_S = const(600)
#: Wrong codes in a row that are called wrong; then one in so many seconds.
TRIES = const(5)
A_TRY_S = const(12)
MAX_SESSIONS = const(8)
#: A session that nobody used for so long ends.
_IDLE_S = const(7 * 86400)


class TooManyTries(Exception):
    """Wrong codes came too fast; the argument says after how many seconds the next may come."""


class Access:
    """
    The code and the sessions of the page; `mono_s()` is a clock that never goes back. `kept` is
    the state of an earlier object, from its method of this name.
    """

    def __init__(
        self, state: str, mono_s: "Callable[[], int]", kept: "tuple | None" = None
    ) -> None:
        self._path = state + _FILE
        self._mono_s = mono_s
        # _owed_s: seconds that wrong codes cost.
        self._code, self._code_until, self._owed_s, self._tried_s = (
            kept[:4] if kept else ("", 0, 0, mono_s())
        )
        #: [hash, time of its last use]; the one that was paired last stands last.
        self._sessions: list[list] = kept[4] if kept else [[one, mono_s()] for one in self._load()]

    def kept(self) -> tuple:
        """Return the state, for the next object."""
        return self._code, self._code_until, self._owed_s, self._tried_s, self._sessions

    def offer(self, is_guest: bool = False) -> str:
        """Return a new code, which is good once and for ten minutes."""
        self._code = GUEST * is_guest + pairing_code.new(_CODE_LETTERS)
        self._code_until = self._mono_s() + _CODE_S
        return self._code

    def pair(self, code: str) -> "tuple[str, str] | None":
        """
        Return (session, token) for the right code, which is used up; None for a wrong one.

        Strangers' wrong codes never stop the right one. They cannot find it: it is one of 31 to
        the power of 10, for ten minutes.
        """
        now = self._mono_s()
        self._owed_s = max(self._owed_s - (now - self._tried_s), 0)
        self._tried_s = now
        given = "".join(code.lower().split()).replace("-", "")
        is_good = is_same(given.encode(), self._code.encode())
        if not self._code or now >= self._code_until or not is_good:
            if self._owed_s > (TRIES - 1) * A_TRY_S:
                raise TooManyTries(self._owed_s - (TRIES - 1) * A_TRY_S)
            self._owed_s += A_TRY_S
            return None
        self._code = ""
        self._owed_s = 0
        session, token = GUEST * given.startswith(GUEST) + _random(), _random()
        while len(self._sessions) >= MAX_SESSIONS:
            self._sessions.remove(min(self._sessions, key=lambda one: one[1]))
        self._sessions.append([_hash(session, token), now])
        self._save()
        return session, token

    def allows(self, session: str, token: str) -> bool:
        """Do both belong to one session?"""
        one = self._find(session, token)
        if one is None:
            return False
        now = self._mono_s()
        if now - one[1] > _IDLE_S:
            self._remove(one)
            return False
        one[1] = now
        return True

    def end(self, session: str, token: str) -> None:
        one = self._find(session, token)
        if one is not None:
            self._remove(one)

    def _find(self, session, token):
        if not session or not token:
            return None
        wanted = _hash(session, token)
        for one in self._sessions:
            if one[0] == wanted:
                return one
        return None

    def _remove(self, one):
        self._sessions.remove(one)
        self._save()

    def _load(self):
        if not files.exists(self._path):
            return []
        try:
            found = json_strict.loads(files.read_text(self._path))
            return [one for one in found if isinstance(one, str)][-MAX_SESSIONS:]
        except (ValueError, TypeError):
            quarantine.quarantine(self._path)
            return []

    def _save(self):
        files.write_atomic(self._path, json.dumps([one[0] for one in self._sessions]))


def of(page: "Guarded") -> Access:
    """Return the sessions of a page; after a change call `keep`."""
    app = page.app
    return page.access or Access(app.state, app.clock.mono_s, page.kept)


def keep(page: "Guarded", access: Access) -> None:
    """Keep the state of the sessions for the next request."""
    page.kept = access.kept()


def _random():
    return hexlify(urandom(24)).decode()


def _hash(session, token):
    """Stored in place of the secrets; comparing hashes tells nothing about them."""
    return hexlify(sha256((session + " " + token).encode()).digest()).decode()


def offer(page: "Guarded", is_guest: bool) -> str:
    """Return the sentence that shows a new code."""
    app = page.app
    sessions = of(page)
    code = sessions.offer(is_guest)
    keep(page, sessions)
    names = app.config.get("web.hosts")
    place = names[0] if names else app.port.address()  # type: ignore[union-attr]
    return "Within ten minutes, open http://%s:%d/#code=%s\nor enter the code %s on the page." % (
        place,
        app.config.get("web.port"),
        code,
        code,
    )
