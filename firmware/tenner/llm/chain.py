# tenner llm.chain: try the models in order until one answers.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import time
from collections import namedtuple

from tenner.log import log
from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.store import files


class LlmError(Exception):
    """
    A model call failed. `cls` is a class of the fallback chain (llm.failure), the text says to a
    person what failed and what to do, `status` is the HTTP status if there was one.
    """

    def __init__(self, cls, sentence, retry_after_s=None, status=None):
        super().__init__(sentence)
        self.cls = cls
        self.retry_after_s = retry_after_s
        self.status = status


# One model at one address, as the settings name it.
_FIELDS = const(("name", "api", "base_url", "api_key", "model", "max_tokens"))
Candidate = namedtuple("Candidate", _FIELDS)


class Chain:
    """
    `http_factory()` returns a new net.http.Http. `store` is the path of the small file that says which
    models rest (llm.resting). `notify(text)` reaches the owner, once for each trouble until the model
    answers again. `sleep(seconds)` and `now()` can be replaced in tests.
    """

    def __init__(
        self, config, http_factory, store, notify=None, sleep=asyncio.sleep, now=time.time
    ):
        self._config = config
        self._factory = http_factory
        self._store = store
        self._notify = notify
        self._sleep = sleep
        self._now = now
        self._http = None
        self._resting = None

    async def complete(self, request, model=None, timeout_ms=None):
        """
        Return the Reply of the first model that gives one. `model` is the name of a fallback to start with,
        or another model at the main address. `timeout_ms` bounds everything together. LlmError with a
        sentence for a person when all failed, or at once when the history must get shorter.
        """
        start = ticks_ms()
        found = self.candidates(model)
        if self._resting or files.size(self._store) > 0:
            found = self._rests().awake(found)
        errors = []
        for candidate in found:
            left_s = self._config.get("llm.timeout_s")
            if timeout_ms is not None:
                left_s = min(left_s, (timeout_ms - ticks_diff(ticks_ms(), start)) / 1000)
                if left_s <= 0:
                    break
            try:
                reply = await self._ask(candidate, request, left_s)
                if self._resting:
                    self._resting.worked(candidate)
                return reply
            except LlmError as error:
                log("llm", "%s: %s" % (error.cls, error))
                if error.cls == "context_overflow":
                    raise
                errors.append(error)
                self._rests().failed(candidate, error)
        from tenner.llm.failure import nobody

        raise nobody(errors)

    async def close(self):
        """Close the connection that is kept for the next round; call it at the end of a turn."""
        http, self._http = self._http, None
        if http:
            await http.close()

    def candidates(self, model=None):
        """Return the candidates in the order of the settings, or as `model` wishes."""
        main = {"name": "main"}
        for field in _FIELDS[1:]:
            main[field] = self._config.get("llm." + field)
        found = []
        for row in [main] + (self._config.get("llm.fallbacks") or []):
            default = dict(main, name="fallback %d" % len(found))
            if row.get("base_url", main["base_url"]) != main["base_url"]:
                # A key belongs to its address and is never sent to another one.
                default["api_key"] = ""
            found.append(Candidate(*[row.get(field) or default[field] for field in _FIELDS]))
        if model:
            for place, candidate in enumerate(found):
                if model in (candidate.name, candidate.model):
                    found.insert(0, found.pop(place))
                    return found
            other = dict(main, name="main " + model, model=model)
            found.insert(0, Candidate(*[other[field] for field in _FIELDS]))
        return found

    def _rests(self):
        """Return which models rest; the code for it is loaded only when one failed."""
        if self._resting is None:
            from tenner.llm.resting import Resting

            self._resting = Resting(self._store, self._notify, self._now)
        return self._resting

    async def _ask(self, candidate, request, left_s):
        """Ask one model, twice when the first failure is likely to pass."""
        # Not at the top: between two rounds of a turn a small board lets go of what it needs here.
        from tenner.llm.client import complete

        # A second call at the same time, of a spawned agent say, has a connection of its own.
        http, self._http = self._http or self._factory(), None
        try:
            try:
                return await complete(http, candidate, request, left_s)
            except LlmError as error:
                from tenner.llm.failure import pause_s

                wait_s = pause_s(error)
                if wait_s is None:
                    raise
                log("llm", "%s: %s; once more in %d s" % (error.cls, error, wait_s))
            await request.make_room()
            await self._sleep(wait_s)
            return await complete(http, candidate, request, left_s)
        finally:
            if self._http is None:
                self._http = http
            else:
                await http.close()
