"""The commented settings template matches the table of settings."""

from __future__ import annotations

import sys

from scripts import config_template, generated
from tenner_host import FIRMWARE

sys.path.insert(0, str(FIRMWARE))

from tenner.store import config


def test_template_is_up_to_date() -> None:
    assert generated.stale(config_template.TARGET, config_template.template()) == ""


def test_every_setting_is_read_by_the_firmware() -> None:
    """By its whole name, or in its section by the last word of it; the switches of parts by the
    start."""
    source = "".join(path.read_text() for path in (FIRMWARE / "tenner").rglob("*.py"))
    names = [row[0] for row in config.rows()]
    assert "heartbeat.channel" in names and "heartbeat.chat" in names
    switches = [key for _, key in config.parts()]
    dead = []
    for name in names:
        section, _, last = name.replace("llm.fallbacks.*", "llm").partition(".")
        last = last.replace("*.", "")
        by_section = f'section("{section}")' in source or section == "llm"
        if (
            f'"{name}"' not in source
            and name not in switches
            and not (
                by_section
                and (last == "*" or f'"{last}"' in source)
                or (last == "*" and f'"{section}." + ' in source)
            )
        ):
            dead.append(name)
    assert dead == []
