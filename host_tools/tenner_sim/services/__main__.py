"""`python -m tenner_sim.services`: run the local services until interrupted, and print their
addresses."""

from __future__ import annotations

import argparse
import signal
import tempfile
import threading
from pathlib import Path

from . import API_KEY, MODEL, OWNER, TOKEN, Services
from .authority import VERSIONS
from .chains import CHAINS


def main() -> None:
    """Start both services and print a client's settings for them."""
    parser = argparse.ArgumentParser(prog="python -m tenner_sim.services", description=__doc__)
    parser.add_argument("--plain", action="store_true", help="HTTP without TLS")
    parser.add_argument("--tls-versions", choices=VERSIONS, default="any", help="refuse others")
    parser.add_argument("--chain", choices=CHAINS, help="that both send (default: as real ones)")
    parser.add_argument("--model-port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--telegram-port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--certs", type=Path, help="folder for the CA (default: a new one)")
    options = parser.parse_args()
    services = Services(
        tls=not options.plain,
        tls_versions=options.tls_versions,
        chain=options.chain,
        model_port=options.model_port,
        telegram_port=options.telegram_port,
        log=lambda line: print(line, flush=True),
    )
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with services:
        print(f"model     {services.model.base_url}  key {API_KEY}  model {MODEL}")
        print(f"telegram  {services.telegram.url}  token {TOKEN}  owner {OWNER}")
        if services.authority is not None:
            folder = options.certs or Path(tempfile.mkdtemp(prefix="tenner-ca-"))
            print(f"CA        {services.authority.write_der(folder)}")
        print("Ctrl-C ends.", flush=True)
        ended.wait()


if __name__ == "__main__":
    main()
