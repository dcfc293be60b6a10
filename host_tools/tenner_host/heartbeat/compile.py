"""`tenner heartbeat --compile`: a model puts prose lines into the grammar of HEARTBEAT.md.

One call a line; the result is a diff that the owner may apply. Nothing is written. The firmware's
own parser judges each reply, so a model that answers anything else changes nothing.
"""

from __future__ import annotations

import difflib
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tenner_host.errors import CommandError, reason
from tenner_host.heartbeat.check import firmware, readings, sensors_beside
from tenner_host.setup import settings as store

_MOST_CALLS = 40
_MAX_REPLY = 400
_TIMEOUT_S = 60


class Refused(Exception):
    """The reply is no rule; the sentence says why."""


def candidates(text: str, folder: Path | None) -> list[dict[str, Any]]:
    """The readings of the prose lines that name a sensor, a time or a number."""
    known = sensors_beside(folder)
    names_something = firmware("schedule.rules").names_something
    lines = text.split("\n")
    found = []
    for one in readings(text, folder):
        line = lines[one["line"] - 1]
        if one["kind"] not in ("beat", "off") or line.lstrip("-*+ ").startswith("("):
            continue
        if names_something(line.strip().lstrip("-*+ "), known):
            found.append(one)
    return found


def rule(reply: str, line: str, folder: Path | None) -> str | None:
    """The line with the reply's bracket before the owner's words; None for "no". Refused for any
    other reply that is no rule."""
    bracket = reply.strip().strip("`").strip()
    if bracket.lower().rstrip(".") == "no":
        return None
    if len(bracket) > _MAX_REPLY or "\n" in bracket or bracket[:1] + bracket[-1:] != "()":
        raise Refused(f"the model answered no bracket: {bracket[:60]!r}")
    if bracket.count("(") != 1 or "{" in bracket:
        raise Refused(f"the model answered more than a bracket: {bracket[:60]!r}")
    words = line.strip().lstrip("-*+ ").strip()
    made = f"- {bracket} {words}"
    (reading,) = readings(made, folder)
    if reading["kind"] not in ("alarm", "timed", "job") or reading["problem"]:
        raise Refused(f"{bracket}: {reading['problem'] or reading['text']}")
    return made


def ask(settings: store.Settings, line: str, system: str) -> str:
    """The model's reply about one line, in either wire format; CommandError without one."""
    base = str(store.get(settings, "llm.base_url")).rstrip("/")
    key, model = str(store.get(settings, "llm.api_key")), str(store.get(settings, "llm.model"))
    if not model:
        raise CommandError("llm.model is not set in config.json: `tenner setup` asks for it")
    headers = {"Content-Type": "application/json"}
    body: dict[str, Any] = {"model": model}
    # The same addresses and headers as firmware/tenner/llm/.
    if store.get(settings, "llm.api") == "messages":
        url = base + ("/messages" if base.endswith("/v1") else "/v1/messages")
        headers |= {"anthropic-version": "2023-06-01", "x-api-key": key}
        body |= {"max_tokens": 200, "system": system}
        body["messages"] = [{"role": "user", "content": line}]
    else:
        url = f"{base}/chat/completions"
        body["max_completion_tokens" if "api.openai.com" in base else "max_tokens"] = 200
        if key:
            headers["Authorization"] = f"Bearer {key}"
        body["messages"] = [
            {"role": "system", "content": system},
            {"role": "user", "content": line},
        ]
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            found = json.loads(answer.read(1 << 20))
    except urllib.error.HTTPError as exc:
        said = exc.read(300).decode(errors="replace")
        raise CommandError(f"{base} answered HTTP {exc.code}: {said}") from exc
    except (OSError, ValueError) as exc:
        raise CommandError(f"{base} did not answer about a line: {reason(exc)}") from exc
    return _text(found)


def _text(found: Any) -> str:
    """The text of an answer in either format, "" without one."""
    try:
        if "choices" in found:
            return str(found["choices"][0]["message"]["content"] or "")
        return "".join(one["text"] for one in found["content"] if one.get("type") == "text")
    except (KeyError, IndexError, TypeError):
        return ""


def compiled(
    text: str, folder: Path | None, settings: store.Settings
) -> tuple[str, list[tuple[int, str]]]:
    """(the text with rules in place of prose, a sentence for each line that was asked about)."""
    lines = text.split("\n")
    known = sensors_beside(folder)
    system = firmware("schedule.prose").question(known)
    said = []
    for one in candidates(text, folder)[:_MOST_CALLS]:
        number = one["line"]
        line = lines[number - 1]
        try:
            made = rule(ask(settings, line.strip(), system), line, folder)
        except Refused as exc:
            said.append((number, f"stays as it is: {exc}"))
            continue
        if made is None:
            said.append((number, "stays as it is: it needs a model each time"))
            continue
        lines[number - 1] = made
        (reading,) = readings(made, folder)
        said.append((number, str(reading["text"])))
    return "\n".join(lines), said


def diff(before: str, after: str, name: str) -> list[str]:
    """The lines of a unified diff, which `patch` applies."""
    return list(
        difflib.unified_diff(before.split("\n"), after.split("\n"), name, name, lineterm="")
    )
