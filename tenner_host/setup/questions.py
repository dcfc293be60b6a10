"""The questions of `tenner setup`: each has a default, and is checked on the board before the
next."""

from __future__ import annotations

import rich_click as click

from tenner_host.errors import BoardSilent, CommandError
from tenner_host.output import echo
from tenner_host.setup.checks import Trial
from tenner_host.setup.providers import OTHER, PROVIDERS, by_name, by_url
from tenner_host.setup.settings import Settings, get, put
from tenner_host.setup.zones import local_zone, posix_zone


def ask_all(trial: Trial, settings: Settings) -> None:
    """Ask for all settings, each before those that need it."""
    if trial.board.joins_wifi:
        ask_wifi(trial, settings)
    ask_model(trial, settings)
    ask_telegram(trial, settings)
    ask_time(settings)


def _title(text: str) -> None:
    echo(f"\n{text}", bold=True, err=True)


def _say(text: str) -> None:
    echo(text, err=True)


def _secret(title: str, settings: Settings, key: str, *, optional: bool = False) -> None:
    """Ask for a secret without showing it; an empty answer keeps the present one."""
    known = get(settings, key)
    hint = " (Enter keeps the present one)" if known else " (Enter for none)" if optional else ""
    while True:
        value = click.prompt(
            f"{title}{hint}", hide_input=True, default="", show_default=False, err=True
        ).strip()
        if value:
            put(settings, key, value)
        if value or known or optional:
            return
        _say("It is needed.")


def _again(problem: CommandError) -> bool:
    """Show the problem; True to ask again, False to keep the settings unchanged."""
    echo(problem.message, fg="red", err=True)
    return bool(click.confirm("Change it and try again", default=True, err=True))


def ask_wifi(trial: Trial, settings: Settings) -> None:
    _title("Wi-Fi")
    while True:
        networks = trial.networks()
        for number, one in enumerate(networks, 1):
            _say(f"  {number:2}  {one.ssid:32} {one.rssi} dBm{' (open)' if one.open else ''}")
        if not networks:
            _say("The board hears no network.")
        known = str(get(settings, "wifi.ssid"))
        answer = click.prompt(
            "Number or name of the network",
            default=known or (networks[0].ssid if networks else None),
            err=True,
        )
        chosen = answer
        if answer.isdigit() and 1 <= int(answer) <= len(networks):
            chosen = networks[int(answer) - 1].ssid
        if chosen != known:
            put(settings, "wifi.password", None)
        put(settings, "wifi.ssid", chosen)
        is_open = any(one.ssid == chosen and one.open for one in networks)
        if not is_open:
            _secret("Password", settings, "wifi.password", optional=True)
        try:
            _say(trial.wifi(settings))
            return
        except BoardSilent:
            raise
        except CommandError as exc:
            if not _again(exc):
                return


def ask_model(trial: Trial, settings: Settings) -> None:
    _title("Model")
    while True:
        _ask_provider(settings)
        try:
            _say(trial.model(settings))
            return
        except BoardSilent:
            raise
        except CommandError as exc:
            if not _again(exc):
                return


def _ask_provider(settings: Settings) -> None:
    for one in PROVIDERS:
        _say(f"  {one.name:11} {one.title}")
    _say(f"  {OTHER:11} any other server, by its address")
    known_url = str(get(settings, "llm.base_url"))
    known = by_url(known_url)
    has_model = bool(get(settings, "llm.model"))
    start = known.name if known else OTHER if has_model else PROVIDERS[0].name
    names = [*(one.name for one in PROVIDERS), OTHER]
    name = click.prompt(
        "Provider", type=click.Choice(names), show_choices=False, default=start, err=True
    )
    provider = by_name(name)
    if name != start:
        put(settings, "llm.api_key", None)
        put(settings, "llm.model", None)
    if provider is None:
        url = click.prompt(
            "Address of its API, with the version (http://192.168.1.2:8080/v1)",
            default=known_url if name == start else None,
            err=True,
        )
        put(settings, "llm.base_url", url.strip())
        languages = click.Choice(["chat", "messages"])
        put(
            settings,
            "llm.api",
            click.prompt(
                "Does it speak chat completions (chat) or Anthropic's messages",
                type=languages,
                default=str(get(settings, "llm.api")),
                err=True,
            ),
        )
        _secret("Its key", settings, "llm.api_key", optional=True)
    else:
        put(settings, "llm.base_url", provider.base_url)
        put(settings, "llm.api", provider.api)
        if not provider.keys:
            url = click.prompt("Its address, with /v1", default=provider.base_url, err=True)
            put(settings, "llm.base_url", url.strip())
        else:
            _say(f"A key comes from {provider.keys}")
            _secret("Key (it is not shown)", settings, "llm.api_key")
    default = get(settings, "llm.model") or (provider.model if provider else None)
    put(settings, "llm.model", click.prompt("Model", default=default, err=True).strip())


def ask_telegram(trial: Trial, settings: Settings) -> None:
    _title("Telegram")
    if not get(settings, "telegram.token"):
        _say(
            "Write /newbot to @BotFather; it gives a token. Without one the agent talks on USB "
            "only."
        )
    while True:
        _secret("Token of the bot (it is not shown)", settings, "telegram.token", optional=True)
        if not get(settings, "telegram.token"):
            return
        try:
            _say(trial.telegram(settings))
            return
        except BoardSilent:
            raise
        except CommandError as exc:
            if not _again(exc):
                return
            put(settings, "telegram.token", None)


def ask_time(settings: Settings) -> None:
    _title("Time")
    here = local_zone()
    known = str(get(settings, "time.zone"))
    default = here[0] if here and known == "UTC0" else known
    while True:
        zone = posix_zone(
            click.prompt(
                "Your time zone (Europe/Berlin, or CET-1CEST,...)", default=default, err=True
            )
        )
        if zone:
            put(settings, "time.zone", zone)
            break
        _say(
            "There is no zone of that name; they are called like Europe/Berlin or "
            "America/New_York."
        )
    _say("The agent runs its HEARTBEAT.md regularly; outside active hours only urgent tasks run.")
    put(
        settings,
        "heartbeat.active_hours",
        click.prompt(
            "Active hours, as 08:00-22:00 (- for always)",
            default=str(get(settings, "heartbeat.active_hours")) or "-",
            err=True,
        )
        .strip()
        .strip("-"),
    )
