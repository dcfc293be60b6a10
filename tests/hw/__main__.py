"""`python -m tests.hw --port PORT`: a board's whole life, and a report of it that can be pasted.

Without a port nothing is done. Everything on the board's flash but MicroPython is replaced.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tenner_host import ROOT
from tenner_sim.services.chains import CHAINS
from tests import provider_requests
from tests.hw.life import Options, live

REPORT = ROOT / "build" / "hw.txt"


def parser() -> argparse.ArgumentParser:
    """The options; `make bench B=chip.` has the same, by the environment."""
    made = argparse.ArgumentParser(prog="python -m tests.hw", description=__doc__)
    env = os.environ.get
    made.add_argument(
        "--port",
        default=env("PORT") or env("TENNER_PORT") or "",
        help="device, socket:// or rfc2217:// URL",
    )
    made.add_argument("--board", default=env("BOARD") or Options.board, help="a folder of boards/")
    made.add_argument(
        "--host",
        default=env("HW_HOST") or Options.host,
        help="the board's name for this computer, such as 192.168.1.5",
    )
    made.add_argument("--ssid", default=env("HW_SSID") or "", help="of the Wi-Fi that both are in")
    made.add_argument(
        "--password", default=env("HW_PASSWORD") or "", help="of it; better in $HW_PASSWORD"
    )
    made.add_argument(
        "--ntp-host", default=env("HW_NTP") or "", help="default: that of the firmware"
    )
    made.add_argument("--image", type=Path, help="flash this MicroPython first")
    made.add_argument("--turns", type=int, default=Options.turns)
    made.add_argument("--cuts", type=int, default=Options.cuts, help="of power, by DTR and RTS")
    made.add_argument("--beats", type=int, default=Options.beats)
    made.add_argument(
        "--broker", default="", metavar="HOST:PORT", help="a plain MQTT broker: MQTT too"
    )
    made.add_argument(
        "--chain",
        choices=CHAINS,
        help="of the servers' certificates (default: Telegram's and the model's, as real ones)",
    )
    made.add_argument("--patience", type=float, default=Options.patience_s, metavar="SECONDS")
    made.add_argument(
        "--no-test", action="store_true", help="write the settings without trying them"
    )
    made.add_argument("--report", type=Path, default=REPORT)
    return made  # fmt: skip


def options(arguments: argparse.Namespace) -> Options:
    return Options(
        port=arguments.port,
        board=arguments.board,
        host=arguments.host,
        ssid=arguments.ssid,
        password=arguments.password,
        ntp_host=arguments.ntp_host,
        image=arguments.image,
        turns=arguments.turns,
        cuts=arguments.cuts,
        beats=arguments.beats,
        broker=arguments.broker,
        chain=arguments.chain,
        patience_s=arguments.patience,
        try_settings=not arguments.no_test,
    )


def main(argv: list[str] | None = None) -> int:
    arguments = parser().parse_args(argv)
    if not arguments.port:
        print("skipped: there is no port; name one with --port")
        return 0
    provider_requests.install()
    with tempfile.TemporaryDirectory(prefix="tenner-hw-") as folder:
        report = live(options(arguments), Path(folder))
    arguments.report.parent.mkdir(parents=True, exist_ok=True)
    arguments.report.write_text(report.text())
    print(f"\n{report.text()}\nwritten to {arguments.report}")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
