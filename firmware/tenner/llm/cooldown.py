# tenner llm.cooldown: the cooldown of models after failures, kept over restarts.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.llm import failure
from tenner.log import log
from tenner.port.compat import const
from tenner.store import files, json_strict, quarantine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tenner.llm.errors import LlmError
    from tenner.llm.types import Candidate

_LONGEST_COOLDOWN_S = const(86400)

# The cooldown of a model in minutes after its first, second ... failure in a row.
_COOLDOWN_MIN = {
    "auth": (1, 5, 25, 60),
    "billing": (300, 600, 1440),
    "timeout": (1, 5, 15),
}


class Cooldown:
    """The cooldowns in `path`, a small JSON file that is absent while no model has failed."""

    def __init__(
        self, path: str, notify: "Callable[[str], None] | None", now: "Callable[[], float]"
    ) -> None:
        self._path = path
        self._notify = notify
        self._now = now
        # name -> [end of the cooldown, failures in a row, kind of failure the owner knows of]
        self._rows = {}
        if files.size(path) > 0:
            try:
                self._rows = json_strict.loads(files.read_text(path, 4096))
            except ValueError as error:
                log("llm", "%s: %s; kept as %s" % (path, error, quarantine.quarantine(path)))

    def available(self, found: "list[Candidate]") -> "list[Candidate]":
        """Return the candidates without a cooldown, or all, sorted by the end of their cooldown,
        if none is left."""
        available = [candidate for candidate in found if not self._left_s(candidate)]
        if available:
            return available
        # MicroPython's sort is not stable.
        places = sorted(range(len(found)), key=lambda place: (self._left_s(found[place]), place))
        return [found[place] for place in places]

    def _left_s(self, candidate):
        row = self._rows.get(candidate.name)
        left_s = row[0] - self._now() if row else 0
        # Later than any cooldown: the clock was set back, or is not set yet.
        return left_s if 0 < left_s <= _LONGEST_COOLDOWN_S else 0

    def worked(self, candidate: "Candidate") -> None:
        """Forget the failures of a model that answered."""
        if self._rows.pop(candidate.name, None):
            self._save()

    def failed(self, candidate: "Candidate", error: "LlmError") -> None:
        """Start the cooldown for the kind of failure, and notify the owner if only the owner can
        fix it."""
        row = self._rows.get(candidate.name) or [0, 0, ""]
        _, count, told = row
        cooldown_s = 0
        steps = _COOLDOWN_MIN.get(error.kind)
        if error.kind == "timeout" and error.retry_after_s == 0:
            steps = None
        if steps:
            cooldown_s = steps[min(count, len(steps) - 1)] * 60
            count += 1
        elif error.kind == "rate_limit":
            if failure.pause_s(error) is None:
                cooldown_s = min(error.retry_after_s or 0, 3600)
        if error.kind in ("auth", "billing", "tls", "not_found") and told != error.kind:
            told = error.kind
            text = str(error)
            self._notify(text[:1].upper() + text[1:] + ".")
        if cooldown_s or told != row[2]:
            self._rows[candidate.name] = [int(self._now()) + cooldown_s, count, told]
            self._save()

    def _save(self):
        try:
            if self._rows:
                files.write_atomic(self._path, json.dumps(self._rows))
            else:
                files.remove(self._path)
        except OSError as error:
            log("llm", "the cooldown of models could not be stored: %s" % error)
