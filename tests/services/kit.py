"""Services that nobody here wrote: fetched once into the cache by npm and pip, or the system's,
and started for a test.

A service that cannot be had is `Unavailable`, with the reason; TENNER_REQUIRE_SERVICES=1 makes
that a failure.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tenner_host import places
from tenner_sim import LIMIT_S

#: Pinned: a newer one may answer otherwise, and this is a test of the agent.
NPM = {
    "@copilotkit/aimock": "1.43.0",
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "@modelcontextprotocol/server-memory": "2026.8.31",
    "supergateway": "4.0.0",
    "telegram-test-api": "4.2.1",
}
PYPI = {
    "llmock": "0.2.2",
    "fakellm": "0.3.5",
}
#: For photos and voice notes; FFmpeg is in `av`.
MEDIA = {
    "ant2oai": "0.1.6",
    "av": "18.1.0",
    "fastapi": "0.165.0",
    "python-multipart": "0.0.34",
    "PyYAML": "6.0.4",
    "uvicorn": "0.54.0",
}
#: Without the library and the weights of its model, which tests/services/whisper replaces.
WHISPER = {"faster-whisper-server": "0.0.3"}
#: Home Assistant and the imports of its MQTT integration; all of it would bring a hundred packages
#: more.
HOME_ASSISTANT = {
    "homeassistant": "2024.3.3",
    "aiohttp": "3.9.3",
    "aiohttp-fast-url-dispatcher": "0.3.0",
    "aiohttp-zlib-ng": "0.3.1",
    "aiosignal": "1.4.0",
    "async-interrupt": "1.1.1",
    "atomicwrites-homeassistant": "1.4.1",
    "attrs": "23.2.0",
    "awesomeversion": "24.2.0",
    "bcrypt": "4.1.2",
    "certifi": "2024.2.2",
    "cffi": "1.16.0",
    "charset-normalizer": "3.3.2",
    "ciso8601": "2.3.1",
    "cryptography": "42.0.5",
    "frozenlist": "1.4.1",
    "idna": "3.6",
    "ifaddr": "0.2.0",
    "janus": "1.0.0",
    "Jinja2": "3.1.3",
    "lru-dict": "1.3.0",
    "MarkupSafe": "2.1.5",
    "multidict": "6.0.5",
    "orjson": "3.9.15",
    "packaging": "24.0",
    "paho-mqtt": "1.6.1",
    "PyJWT": "2.8.0",
    "python-slugify": "8.0.4",
    "PyYAML": "6.0.1",
    "requests": "2.31.0",
    "text-unidecode": "1.3",
    "typing-extensions": "4.10.0",
    "ulid-transform": "0.9.0",
    "urllib3": "1.26.18",
    "voluptuous": "0.13.1",
    "voluptuous-serialize": "2.6.0",
    "yarl": "1.9.4",
    "zlib-ng": "0.4.1",
}
#: The Pythons that this Home Assistant has wheels for.
HOME_ASSISTANT_PYTHONS = ((3, 11), (3, 12))
SBIN = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/bin"


class Unavailable(Exception):
    """Why a service cannot be had here, in one sentence."""


def need(find: Any, *args: Any) -> Any:
    """Return `find(*args)`; where that is Unavailable the test is skipped with the reason, or
    fails."""
    try:
        return find(*args)
    except Unavailable as exc:
        if os.environ.get("TENNER_REQUIRE_SERVICES") == "1":
            pytest.fail(str(exc), pytrace=False)
        pytest.skip(str(exc))


def program(name: str) -> str:
    """The path of a program of the system."""
    found = shutil.which(name) or shutil.which(name, path=SBIN)
    if found is None:
        raise Unavailable(f"there is no {name} here: apt install {name}")
    return found


def _run(command: Sequence[str], what: str) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise Unavailable(f"{what}: {lines[-1] if lines else done.returncode}")


def _filled(kind: str, packages: dict[str, str], fill: Any) -> Path:
    """The folder of the cache with these packages; filled under another name first, so that it is
    whole."""
    mark = hashlib.sha256(json.dumps([packages, sys.version_info[:2]]).encode()).hexdigest()[:12]
    made = places.cache_folder() / "services" / f"{kind}-{mark}"
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=made.parent) as work:
            stage = Path(work, "root")
            stage.mkdir()
            fill(stage)
            stage.rename(made)
    return made


def npm(name: str, kind: str = "npm", packages: dict[str, str] = NPM) -> Path:
    """The folder of a package of npm, installed with its `packages`."""
    words = [f"{one}@{version}" for one, version in packages.items()]

    def fill(folder: Path) -> None:
        quiet = [
            "--no-audit",
            "--no-fund",
            "--no-progress",
            "--ignore-scripts",
            "--loglevel=error",
        ]
        command = [program("npm"), "install", "--prefix", str(folder), *quiet, *words]
        _run(command, "npm cannot fetch the services")

    return _filled(kind, packages, fill) / "node_modules" / name


def node(name: str, script: str, *args: str) -> list[str]:
    """The command that starts a script of a package of npm."""
    return [program("node"), str(npm(name) / script), *args]


def pypi(name: str) -> str:
    """The folder of the packages of PyPI; their libraries are not those of the tests."""
    return pip("pypi", PYPI)


def media() -> list[str]:
    """The folders of the services for photos and voice notes."""
    return [pip("media", MEDIA), pip("whisper", WHISPER, "--no-deps")]


def home_assistant() -> str:
    """Return the folder of Home Assistant and the imports of its MQTT integration."""
    if sys.version_info[:2] not in HOME_ASSISTANT_PYTHONS:
        pinned = HOME_ASSISTANT["homeassistant"]
        raise Unavailable(
            f"Home Assistant {pinned} runs on Python 3.11 and 3.12: make PYTHON=python3.11"
        )
    return pip("home-assistant", HOME_ASSISTANT, "--no-deps", "--no-compile")


def pip(kind: str, packages: dict[str, str], *options: str) -> str:
    """The folder of these packages of PyPI."""
    words = [f"{one}=={version}" for one, version in packages.items()]

    def fill(folder: Path) -> None:
        # No links into this folder, which is renamed: the packages alone, put on the path when one
        # is started.
        quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--target", str(folder)]
        command = [sys.executable, "-m", "pip", "install", *quiet, *options, *words]
        _run(command, "pip cannot fetch the services")

    return str(_filled(kind, packages, fill))


@contextlib.contextmanager
def running(
    command: Sequence[str], port: int, folder: Path, environment: dict[str, str] | None = None
) -> Iterator[Path]:
    """Run a program that listens on `port` of loopback; yield the path of its output."""
    log = folder / f"{Path(command[-1]).name[:20] or 'service'}-{port}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        end = time.monotonic() + LIMIT_S
        while process.poll() is None and time.monotonic() < end:
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", port), 1),
            ):
                break
            time.sleep(0.05)
        else:
            raise Unavailable(f"{command[0]} does not start: {log.read_text()[-300:]}")
        yield log
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def call(url: str, data: Any = None, method: str | None = None) -> Any:
    """Return a service's answer on its own side, as JSON."""
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(
        url, body, {"Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request, timeout=LIMIT_S) as reply:
        text = reply.read()
    return json.loads(text) if text else None
