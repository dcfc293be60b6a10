# tenner llm.resting: which models rest after a failure, kept over restarts. Imported when one failed.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files

_LONGEST_REST_S = const(86400)

# Minutes a model rests after its first, second ... failure in a row.
_REST_MIN = {"auth": (1, 5, 25, 60), "billing": (300, 600, 1440)}


class Resting:
    """`path` is a small JSON file; there is none while all models are well."""

    def __init__(self, path, notify, now):
        self._path = path
        self._notify = notify
        self._now = now
        # name -> [resting until, failures in a row, class the owner was told of]
        self._rows = {}
        if files.size(path) > 0:
            from tenner.store import jsontext

            try:
                self._rows = jsontext.loads(files.read_text(path, 4096))
            except ValueError as error:
                from tenner.store import repairs

                log("llm", "%s: %s; kept as %s" % (path, error, repairs.set_aside(path)))

    def awake(self, found):
        """Leave out of the candidates who rests; when all do, keep the one whose rest ends first."""
        awake = [candidate for candidate in found if not self._left_s(candidate)]
        return awake or [min(found, key=self._left_s)]

    def _left_s(self, candidate):
        row = self._rows.get(candidate.name)
        left_s = row[0] - self._now() if row else 0
        # Further off than any rest: the clock was set back, or is not set yet.
        return left_s if 0 < left_s <= _LONGEST_REST_S else 0

    def worked(self, candidate):
        """Forget the troubles of a model that answered."""
        if self._rows.pop(candidate.name, None):
            self._save()

    def failed(self, candidate, error):
        """Let the model rest as its failure asks, and tell the owner of what only he can mend."""
        row = self._rows.get(candidate.name) or [0, 0, ""]
        _, count, told = row
        rest_s = 0
        steps = _REST_MIN.get(error.cls)
        if steps:
            rest_s = steps[min(count, len(steps) - 1)] * 60
            count += 1
        elif error.cls == "rate_limit":
            from tenner.llm.failure import pause_s

            if pause_s(error) is None:
                rest_s = min(error.retry_after_s or 0, 3600)
        if error.cls in ("auth", "billing", "tls", "not_found") and told != error.cls:
            told = error.cls
            text = str(error)
            self._notify(text[:1].upper() + text[1:] + ".")
        if rest_s or told != row[2]:
            self._rows[candidate.name] = [int(self._now()) + rest_s, count, told]
            self._save()

    def _save(self):
        try:
            if self._rows:
                files.write_atomic(self._path, json.dumps(self._rows))
            else:
                files.remove(self._path)
        except OSError as error:
            log("llm", "which models rest could not be stored: %s" % error)
