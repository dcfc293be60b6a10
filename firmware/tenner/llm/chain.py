# tenner llm.chain: try the models in order until one answers.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json
import time

from tenner.llm.errors import LlmError
from tenner.log import log
from tenner.port.compat import const, ticks_diff, ticks_ms

_RETRY_S = const(2)  # before the same model is asked again after a broken exchange
_LONGEST_WAIT_S = const(20)  # a Retry-After up to this is waited for
_LONGEST_COOL_S = const(24 * 3600)

# How long a model rests after its first, second ... failure in a row.
_COOL_MIN = {"auth": (1, 5, 25, 60), "billing": (5 * 60, 10 * 60, 24 * 60)}
# Failures that stay until the owner does something.
_TELL = ("auth", "billing", "tls", "not_found")


class Candidate:
    """One model at one address, as the settings name it."""

    def __init__(self, name, api, base_url, api_key, model, max_tokens):
        self.name = name
        self.api = api
        self.base_url = base_url
        self.api_key = api_key
        self.model = model
        self.max_tokens = max_tokens


class JsonFile:
    """Keeps the cool-downs in a small file; a corrupt one is set aside."""

    def __init__(self, path):
        self._path = path

    def load(self):
        from tenner.store import files, jsontext

        if files.size(self._path) <= 0:
            return {}
        try:
            data = jsontext.loads(files.read_text(self._path, 4096))
            if isinstance(data, dict):
                return data
        except ValueError as error:
            log("llm", "%s: %s" % (self._path, error))
        log("llm", "the list of resting models was set aside as %s" % files.set_aside(self._path))
        return {}

    def save(self, data):
        from tenner.store import files

        files.write_atomic(self._path, json.dumps(data))


class Chain:
    """
    `http_factory()` returns a new net.http.Http. `store` is the path of a small file, an object with
    load() and save(dict), or None to forget at a restart. `notify(text)` reaches the owner, once for each
    trouble until the model answers again. `sleep(seconds)` and `now()` can be replaced in tests.
    """

    def __init__(self, config, http_factory, store=None, notify=None, sleep=None, now=None):
        self._config = config
        self._factory = http_factory
        self._store = JsonFile(store) if isinstance(store, str) else store
        self._notify = notify
        self._sleep = sleep or asyncio.sleep
        self._now = now or _now
        self._http = None
        # name -> [resting until, failures in a row, class the owner was told of]; read when first needed.
        self._resting = None

    async def complete(self, request, model=None, timeout_ms=None):
        """
        Return the Reply of the first model that gives one. `model` is the name of a fallback to start with,
        or another model at the main address. `timeout_ms` bounds everything together. LlmError with a
        sentence for a person when all failed, or at once when the history must get shorter.
        """
        if self._resting is None:
            self._resting = self._store.load() if self._store else {}
        start = ticks_ms()
        first_error = None
        failed = 0
        for candidate in self._order(self.candidates(model)):
            left_s = self._config.get("llm.timeout_s")
            if timeout_ms is not None:
                left_s = min(left_s, (timeout_ms - ticks_diff(ticks_ms(), start)) / 1000)
                if left_s <= 0:
                    break
            try:
                reply = await self._ask(candidate, request, left_s)
                self._worked(candidate)
                return reply
            except LlmError as error:
                log("llm", "%s: %s" % (error.cls, error))
                if error.cls == "context_overflow":
                    raise
                failed += 1
                if first_error is None:
                    first_error = error
                self._failed(candidate, error)
        raise self._nobody(first_error, failed)

    async def close(self):
        """Close the connection that is kept for the next round; call it at the end of a turn."""
        http, self._http = self._http, None
        if http:
            await http.close()

    def candidates(self, model=None):
        """Return the candidates in the order of the settings, or as `model` wishes."""
        get = self._config.get
        main = Candidate(
            "main",
            get("llm.api"),
            get("llm.base_url"),
            get("llm.api_key"),
            get("llm.model"),
            get("llm.max_tokens"),
        )
        found = [main]
        for number, row in enumerate(get("llm.fallbacks") or ()):
            candidate = Candidate(
                row.get("name") or "fallback %d" % (number + 1),
                row.get("api") or main.api,
                row.get("base_url") or main.base_url,
                row.get("api_key") or "",
                row.get("model") or main.model,
                row.get("max_tokens") or main.max_tokens,
            )
            # A key belongs to its address and is never sent to another one.
            if not candidate.api_key and candidate.base_url == main.base_url:
                candidate.api_key = main.api_key
            found.append(candidate)
        if model and model not in (main.name, main.model):
            for place, candidate in enumerate(found):
                if model in (candidate.name, candidate.model):
                    found.insert(0, found.pop(place))
                    return found
            other = Candidate(
                "main " + model, main.api, main.base_url, main.api_key, model, main.max_tokens
            )
            found.insert(0, other)
        return found

    def _order(self, found):
        """Leave out who is resting; when all are, take the one whose rest ends first."""
        awake = [candidate for candidate in found if not self._rest_left(candidate)]
        if awake:
            return awake
        best = found[0]
        for candidate in found:
            if self._rest_left(candidate) < self._rest_left(best):
                best = candidate
        return [best]

    def _rest_left(self, candidate):
        """Return the seconds `candidate` still rests."""
        row = self._resting.get(candidate.name)
        left = row[0] - self._now() if row else 0
        # Further off than any rest: the clock was set back, or is not set yet.
        return left if 0 < left <= _LONGEST_COOL_S else 0

    async def _ask(self, candidate, request, left_s):
        """Ask one model, twice when the first failure is likely to pass."""
        from tenner.llm.client import complete

        # A second call at the same time, of a spawned agent say, has a connection of its own.
        http, self._http = self._http, None
        if http is None:
            http = self._factory()
        try:
            try:
                return await complete(http, candidate, request, left_s)
            except LlmError as error:
                wait_s = _wait_s(error)
                if wait_s is None:
                    raise
                log("llm", "%s: %s; once more in %d s" % (error.cls, error, wait_s))
            await self._sleep(wait_s)
            return await complete(http, candidate, request, left_s)
        finally:
            if self._http is None:
                self._http = http
            else:
                await http.close()

    def _worked(self, candidate):
        if candidate.name in self._resting:
            del self._resting[candidate.name]
            self._save()

    def _failed(self, candidate, error):
        """Let the model rest as its failure asks, and tell the owner of what only he can mend."""
        row = self._resting.get(candidate.name) or [0, 0, ""]
        rest_s = 0
        count = row[1]
        if error.cls in _COOL_MIN:
            steps = _COOL_MIN[error.cls]
            rest_s = steps[min(count, len(steps) - 1)] * 60
            count += 1
        elif error.cls == "rate_limit" and (error.retry_after_s or 0) > _LONGEST_WAIT_S:
            rest_s = min(error.retry_after_s, 3600)
        told = row[2]
        if error.cls in _TELL and told != error.cls:
            told = error.cls
            if self._notify:
                text = str(error)
                self._notify(text[:1].upper() + text[1:] + ".")
        if rest_s or told != row[2]:
            self._resting[candidate.name] = [int(self._now()) + rest_s, count, told]
            self._save()

    def _save(self):
        if self._store:
            try:
                self._store.save(self._resting)
            except OSError as error:
                log("llm", "which models rest could not be stored: %s" % error)

    def _nobody(self, error, failed):
        if error is None:
            return LlmError("timeout", "I stopped: no model answered in the time there was.")
        text = "I could not get an answer: " + str(error)
        if failed > 1:
            text += "; %d other model%s failed too" % (failed - 1, "" if failed == 2 else "s")
        return LlmError(
            error.cls,
            text + "; I try again with the next message.",
            error.retry_after_s,
            error.status,
        )


def _wait_s(error):
    """Return how long to wait before the same model is asked once more, or None for not at all."""
    if error.cls == "timeout":
        return _RETRY_S
    if error.cls == "rate_limit" and error.retry_after_s is not None:
        return error.retry_after_s if error.retry_after_s <= _LONGEST_WAIT_S else None
    return None


def _now():
    return int(time.time())
