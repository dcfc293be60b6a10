"""The commented settings template is what the table of settings says."""

from __future__ import annotations

import runpy

from host_tools import ROOT


def test_template_is_up_to_date() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "config_template.py"))
    assert script["stale"]() == ""
