"""The commented settings template is what the table of settings says."""

from __future__ import annotations

from scripts import config_template, generated


def test_template_is_up_to_date() -> None:
    assert generated.stale(config_template.TARGET, config_template.template()) == ""
