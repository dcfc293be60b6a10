"""The commented settings template matches the table of settings."""

from __future__ import annotations

import csv

from scripts import config_template, generated
from tenner_host import FIRMWARE


def test_template_is_up_to_date() -> None:
    assert generated.stale(config_template.TARGET, config_template.template()) == ""


def test_every_setting_is_read_by_the_firmware() -> None:
    """By its whole name, or in its section by the last word of it."""
    source = "".join(path.read_text() for path in (FIRMWARE / "tenner").rglob("*.py"))
    with (FIRMWARE / "tenner/store/config.tsv").open(newline="") as table:
        names = [row["key"] for row in csv.DictReader(table, delimiter="\t")]
    assert "heartbeat.channel" in names and "heartbeat.chat" in names
    dead = []
    for name in names:
        section, _, last = name.replace("llm.fallbacks.*", "llm").partition(".")
        last = last.replace("*.", "")
        by_section = f'section("{section}")' in source or section == "llm"
        if f'"{name}"' not in source and not (
            by_section
            and (last == "*" or f'"{last}"' in source)
            or (last == "*" and f'"{section}." + ' in source)
        ):
            dead.append(name)
    assert dead == []
