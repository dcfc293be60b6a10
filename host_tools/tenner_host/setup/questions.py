"""The questions of `tenner setup`: each has a default, and is checked on the board before the
next."""

from __future__ import annotations

import copy
import difflib
import re
from collections.abc import Callable

from tenner_host import prompts
from tenner_host.board.probe import Network
from tenner_host.errors import BoardSilent, CommandError
from tenner_host.output import echo
from tenner_host.setup.answers import tidy
from tenner_host.setup.checks import Trial
from tenner_host.setup.providers import OTHER, PROVIDERS, by_name, by_title, by_url
from tenner_host.setup.settings import (
    Settings,
    assign_text,
    get,
    is_secret,
    now_there,
    put,
)
from tenner_host.setup.zones import local_zone

#: A line of the list of networks, as people name it: 2, 2., #2.
_NUMBER = re.compile(r"[#+-]?(\d{1,9})[.)]?", re.ASCII)
_LEAST_PASSWORD = 8
_NO_NETWORK = "A network is needed: give its number or its name."


def ask_all(trial: Trial, settings: Settings, keep: Callable[[str], None]) -> None:
    """Ask for all settings, each before those that need it. `keep(part)` gets the name of each
    part whose answers work; a part that is given up stays as it was."""
    parts: list[tuple[str, Callable[[Trial, Settings], bool]]] = [
        ("Wi-Fi", ask_wifi),
        ("model", ask_model),
        ("Telegram", ask_telegram),
        ("time zone", ask_zone),
        ("active hours", ask_hours),
    ]
    for part, ask in parts:
        if ask is ask_wifi and not trial.board.joins_wifi:
            continue
        before = copy.deepcopy(settings)
        if ask(trial, settings):
            keep(part)
        else:
            settings.clear()
            settings.update(before)


def _title(text: str) -> None:
    echo(f"\n{text}", bold=True, err=True)


def _say(text: str) -> None:
    echo(text, err=True)


def _ask(settings: Settings, key: str, title: str, default: str = "", needed: str = "") -> None:
    """Ask for a setting until the agent takes the answer; "-" is the default. `needed`: the
    sentence for no answer."""

    def take(answer: str) -> None:
        if needed and answer in ("", "-"):
            raise CommandError(needed)
        _take(settings, key, "" if answer == "-" else answer)

    prompts.ask_for(title, take, default)


def _take(settings: Settings, key: str, answer: str) -> None:
    """Set a key to an answer; say so if the setting differs from it."""
    try:
        assign_text(settings, key, tidy(key, answer))
    except CommandError as exc:
        raise CommandError(_sentence(exc.message.removeprefix(f"{key}: "))) from exc
    taken = get(settings, key)
    if taken == answer or key == "time.zone":
        return
    if not is_secret(key):
        _say(f"Taken as {taken or 'always'}.")
    elif "://" not in answer:
        _say("The rest around it was left out.")


def _sentence(text: str) -> str:
    """A setting's own sentence, as one about the answer above it."""
    text = f"That {text}" if text.startswith("must be") else text
    return text if text.endswith(".") else f"{text}."


def _secret(
    title: str,
    settings: Settings,
    key: str,
    needed: str = "",
    check: Callable[[str], None] | None = None,
) -> None:
    """Ask for a secret without showing it; an empty answer keeps the present one. `needed`: the
    sentence for none at all; `check` raises CommandError."""
    known = get(settings, key)
    hint = "; Enter keeps the current one" if known else "" if needed else "; Enter for none"

    def take(answer: str) -> None:
        if answer:
            if check:
                check(answer)
            _take(settings, key, answer)
        elif needed and not known:
            raise CommandError(needed)

    prompts.ask_for(f"{title} (not shown{hint})", take, hidden=True)


def _try(test: Callable[[Settings], str], settings: Settings) -> bool | None:
    """Test the answers: True if they work, False to leave this part as it was, None to ask
    again."""
    try:
        _say(test(settings))
        return True
    except BoardSilent:
        raise
    except CommandError as exc:
        prompts.refuse(exc.message)
    if prompts.confirm("Change it and try again", default=True):
        return None
    _say("Then it stays as it was.")
    return False


def ask_wifi(trial: Trial, settings: Settings) -> bool:
    _title("Wi-Fi")
    while True:
        networks = trial.networks()
        for number, one in enumerate(networks, 1):
            _say(f"  {number:2}  {one.ssid:32} {one.rssi} dBm{' (open)' if one.open else ''}")
        if not networks:
            _say("The board hears no network.")
        _ask_network(settings, networks)
        done = _try(trial.wifi, settings)
        if done is not None:
            return done


def _ask_network(settings: Settings, networks: list[Network]) -> None:
    """Ask for a network and its password; no password leads back to the network."""
    by_ssid = {one.ssid: one for one in networks}
    while True:
        known = str(get(settings, "wifi.ssid"))

        def take(answer: str, known: str = known) -> None:
            _take(settings, "wifi.ssid", _network(answer, [*by_ssid], known))

        default = known or next(iter(by_ssid), "")
        prompts.ask_for("Number or name of the network", take, default)
        ssid = str(get(settings, "wifi.ssid"))
        if ssid != known:
            put(settings, "wifi.password", None)
        heard = by_ssid.get(ssid)
        if heard and heard.open:
            return
        _ask_password(settings)
        if heard is None or get(settings, "wifi.password"):
            return
        prompts.refuse(f"{ssid} needs its password; an open network has (open) behind its name.")


def _ask_password(settings: Settings) -> None:
    def check(answer: str) -> None:
        if len(answer.encode(errors="replace")) < _LEAST_PASSWORD:
            raise CommandError(f"A Wi-Fi password has at least {_LEAST_PASSWORD} characters.")

    _secret("Password", settings, "wifi.password", check=check)


def _network(answer: str, ssids: list[str], known: str) -> str:
    """The name that an answer means: a number of the list, a name, or one in quotes."""
    if not answer:
        raise CommandError(_NO_NETWORK)
    if answer in (known, *ssids):
        return answer
    number = _NUMBER.fullmatch(answer)
    if number:
        if answer[0] != "-" and 1 <= int(number[1]) <= len(ssids):
            return ssids[int(number[1]) - 1]
        numbers = f"a number from 1 to {len(ssids)}, or a name" if ssids else "a name"
        raise CommandError(
            f"There's no network number {answer}: give {numbers} (a name of digits in quotes)."
        )
    if len(answer) > 1 and answer[0] == answer[-1] and answer[0] in "\"'":
        answer = answer[1:-1]
    if not answer.strip():
        raise CommandError(_NO_NETWORK)
    alike = [ssid for ssid in ssids if ssid.strip().lower() == answer.strip().lower()]
    return alike[0] if len(alike) == 1 and answer not in ssids else answer


def ask_model(trial: Trial, settings: Settings) -> bool:
    _title("Model")
    while True:
        _ask_provider(settings)
        done = _try(trial.model, settings)
        if done is not None:
            return done


def _ask_provider(settings: Settings) -> None:
    for one in PROVIDERS:
        _say(f"  {one.name:11} {one.title}")
    _say(f"  {OTHER:11} any other server, by its address")
    known_url = str(get(settings, "llm.base_url"))
    known = by_url(known_url)
    has_model = bool(get(settings, "llm.model"))
    start = known.name if known else OTHER if has_model else PROVIDERS[0].name
    answer = prompts.ask_for("Provider", _provider, start)
    address = answer if "://" in answer else ""
    name = OTHER if address else answer
    provider = by_name(name)
    if name != start:
        put(settings, "llm.api_key", None)
        put(settings, "llm.model", None)
    if provider is None:
        _ask(
            settings,
            "llm.base_url",
            "Address of its API, with the version (http://192.168.1.2:8080/v1)",
            address or (known_url if name == start else ""),
            needed="An address is needed, such as http://192.168.1.2:8080/v1.",
        )
        _ask(
            settings,
            "llm.api",
            "Does it speak OpenAI's format (chat) or Anthropic's (messages)?",
            str(get(settings, "llm.api")),
        )
        _secret("Its key", settings, "llm.api_key")
    else:
        put(settings, "llm.base_url", provider.base_url)
        put(settings, "llm.api", provider.api)
        if not provider.keys:
            _ask(settings, "llm.base_url", "Its address, with /v1", provider.base_url)
        else:
            _say(f"You make a key at {provider.keys}")
            needed = f"{provider.title} needs a key: make one at {provider.keys}."
            _secret("Key", settings, "llm.api_key", needed)
    default = get(settings, "llm.model") or (provider.model if provider else "")
    needed = "A model's name is needed, as the server calls it, such as gpt-4o-mini."
    _ask(settings, "llm.model", "Model", str(default), needed)


def _provider(answer: str) -> str:
    """The name of a provider, or the address of another one's API."""
    if "://" in answer:
        found = by_url(tidy("llm.base_url", answer))
        return found.name if found else answer
    found = by_name(answer.lower()) or by_title(answer)
    if found:
        return found.name
    if answer.lower() == OTHER:
        return OTHER
    names = [*(one.name for one in PROVIDERS), OTHER]
    best = difflib.get_close_matches(answer.lower()[:40], names, 1)
    hint = f" Did you mean {best[0]}?" if best else ""
    # It is not repeated: people paste their key here.
    raise CommandError(f"There's no such provider: give one of {', '.join(names)}.{hint}")


def ask_telegram(trial: Trial, settings: Settings) -> bool:
    _title("Telegram")
    if not get(settings, "telegram.token"):
        _say(
            "Write /newbot to @BotFather; it gives you a token. Without one the agent talks on "
            "USB only."
        )
    else:
        _say(f"It uses {get(settings, 'telegram.base_url')}.")
    while True:
        _secret("Token of the bot", settings, "telegram.token")
        if not get(settings, "telegram.token"):
            return True
        done = _try(trial.telegram, settings)
        if done is not None:
            return done
        put(settings, "telegram.token", None)


def ask_zone(_trial: Trial, settings: Settings) -> bool:
    _title("Time")
    here = local_zone()
    known = str(get(settings, "time.zone"))
    default = here[0] if here and known == "UTC0" else known
    _ask(settings, "time.zone", "Your time zone, such as Europe/Berlin", default)
    _say(f"It's {now_there(settings)} there.")
    return True


def ask_hours(_trial: Trial, settings: Settings) -> bool:
    _say("The agent runs its HEARTBEAT.md regularly; outside active hours only urgent tasks run.")
    _ask(
        settings,
        "heartbeat.active_hours",
        "Active hours, as 08:00-22:00 (- for always)",
        str(get(settings, "heartbeat.active_hours")) or "-",
    )
    return True
