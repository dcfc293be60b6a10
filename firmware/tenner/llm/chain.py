# tenner llm.chain: tries the models in order until one answers.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import time
from collections import namedtuple

from tenner import overlay
from tenner.llm import client, failure, quirks
from tenner.llm.cooldown import Cooldown
from tenner.llm.errors import LlmError
from tenner.log import log
from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenner.llm.reply import Reply
    from tenner.llm.types import Candidate, Request
    from tenner.net.http import Http
    from tenner.store.config import Config


def _is_empty(reply):
    """Return whether a reply has neither text nor calls, and was not cut off."""
    has_any = reply.text.strip() or reply.blocks or reply.kept or reply.calls
    return not has_any and reply.stop != "length"


_LONGEST_MS = const(600000)  # where the caller sets no limit

# One model at one address, as the settings name it.
_FIELDS = const(("name", "api", "base_url", "api_key", "model", "max_tokens"))
Candidate = namedtuple("Candidate", _FIELDS)


class Chain:
    """
    `http_factory()` returns a new net.http.Http. `store` is the path of the small file with the
    cooldowns of the models (llm.cooldown). `notify(text)` notifies the owner, once per kind of
    failure until the model answers again. Tests can replace `sleep(seconds)` and `now()`.
    """

    def __init__(
        self,
        config: "Config",
        http_factory: "Callable[[], Http]",
        store: str,
        notify: "Callable[[str], None] | None" = None,
        sleep: "Callable[[float], Awaitable]" = asyncio.sleep,
        now: "Callable[[], float]" = time.time,
    ) -> None:
        self._config = config
        self._factory = http_factory
        self._store = store
        self._notify = notify
        self._sleep = sleep
        self._now = now
        self._http: Http | None = None

    async def complete(
        self, request: "Request", model: str | None = None, timeout_ms: int | None = None
    ) -> "Reply":
        """
        Return the Reply of the first model that answers. `model` is the name of a fallback to
        start with, or another model at the main address. `timeout_ms` bounds all attempts
        together; a silence of `llm.timeout_s` ends each. Raise LlmError with a sentence for a
        person when all failed, or at once when the history must get shorter.
        """
        start = ticks_ms()
        timeout_s = self._config.get("llm.timeout_s")

        def left_s():
            limit_ms = _LONGEST_MS if timeout_ms is None else timeout_ms
            return (limit_ms - ticks_diff(ticks_ms(), start)) / 1000

        found = self.candidates(model)
        if files.size(self._store) > 0:
            found = self._cooldown().available(found)
        errors = []
        for candidate in found:
            if left_s() <= 0:
                break
            try:
                reply = await self._ask(candidate, request, timeout_s, left_s)
                if files.size(self._store) > 0:
                    self._cooldown().worked(candidate)
                if candidate is found[-1] or not _is_empty(reply):
                    return reply
                raise failure.empty(candidate)
            except LlmError as error:
                failed = error
            await overlay.step("REQUEST", _failed, self, candidate, failed, errors)
        raise failure.all_failed(errors)

    async def close(self) -> None:
        """Close the connection kept for the next round; call it at the end of a turn."""
        http, self._http = self._http, None
        if http:
            await http.close()

    def candidates(self, model: str | None = None) -> "list[Candidate]":
        """Return the candidates in the order of the settings, `model` first if it is given."""
        main: dict = {"name": "main"}
        for field in _FIELDS[1:]:
            main[field] = self._config.get("llm." + field)
        found = []
        for row in [main] + (self._config.get("llm.fallbacks") or []):
            default = dict(main, name="fallback %d" % len(found))
            if row.get("base_url", main["base_url"]) != main["base_url"]:
                # A key belongs to its address and must not reach another one.
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

    def _cooldown(self):
        return Cooldown(self._store, self._notify, self._now)

    async def _ask(self, candidate, request, timeout_s, left_s):
        """Ask one model, once more after a failure that is likely to pass, and in another form
        where it refuses this one."""
        # A concurrent call, such as a spawned agent's, has a separate connection.
        http, self._http = self._http or self._factory(), None
        path = self._store.rsplit("/", 1)[0] + "/quirks"
        known = quirks.known(path, candidate) if files.size(path) > 0 else ""
        request.quirks = known
        waited = False
        try:
            while True:
                try:
                    reply = await client.complete(
                        http, candidate, request, min(timeout_s, left_s()), left_s()
                    )
                    if request.quirks != known:
                        quirks.remember(path, candidate, request.quirks)
                    return reply
                except LlmError as error:
                    failed = error
                # The code of a failure makes room for that of a request.
                waited = await overlay.once(
                    "REQUEST", _wait, self, candidate, request, failed, waited, left_s()
                )
        finally:
            if self._http is None:
                self._http = http
            else:
                await http.close()


async def _wait(chain, candidate, request, error, waited, left_s):
    """Wait before a retry, or learn another form of the request; return whether a wait is
    behind it. Raise `error` if no retry helps."""
    if error.words and quirks.learn(candidate, request, error):
        return waited
    wait_s = None if waited else failure.pause_s(error)
    if wait_s is None or wait_s >= left_s:
        raise error
    log("llm", "%s: %s; retry in %.3g s" % (error.kind, error, wait_s))
    await chain._sleep(wait_s)
    return True


def _failed(chain, candidate, error, errors):
    """Add the failure of a model to `errors`; raise it if no other may take the request."""
    log("llm", "%s: %s" % (error.kind, error))
    if error.kind == "context_overflow":
        raise error
    errors.append(error)
    chain._cooldown().failed(candidate, error)
