"""The tests of the firmware on the LicheeRV Nano's architecture: `make test-riscv64`.

tests/test_*.py under riscv64 MicroPython and CPython, by qemu-user: those of the platform, and a
part of every area. `make test-riscv64 ALL=1` runs all of them, which takes several times as long.
"""

import os
import shutil
import subprocess

import pytest

from conftest import HERE, LAST_LINE, run_file
from riscv64 import userland
from tenner_host import debian
from tenner_host.linux import kit, package

#: CPython needs 3.5 s to start there, MicroPython 0.1 s.
CORE = {
    "micropython": (
        "agent channels_console net port sensors schedule store tools_check tools_files tools_i2c "
        "tools_paths tools_pins tools_registry vectors"
    ),
    "cpython": "agent_turn net_clock net_http port store_files store_slots store_outbox",
}
#: qemu-user sets no limit on memory, which is one of those that `exec` has.
NOT_HERE = ("test_tools_exec",)


def files():
    """Return (interpreter, test file) of each run."""
    for name, words in CORE.items():
        wanted = tuple(f"test_{word}" for word in words.split())
        for path in sorted(HERE.glob("test_*.py")):
            chosen = os.environ.get("ALL") == "1" or path.stem.startswith(wanted)
            if chosen and path.stem not in NOT_HERE:
                yield name, path


@pytest.fixture(scope="session")
def interpreters(tmp_path_factory):
    """How each is started: (command, environment)."""
    work = tmp_path_factory.mktemp("riscv64")
    try:
        return {name: make(work) for name, make in userland.INTERPRETERS.items()}
    except (debian.CannotFetch, OSError) as exc:
        if os.environ.get("TENNER_REQUIRE_RISCV64") == "1":
            pytest.fail(f"riscv64: {exc}", pytrace=False)
        pytest.skip(f"riscv64: {exc}")


@pytest.mark.parametrize("name", userland.INTERPRETERS)
def test_it_is_riscv64_that_runs(interpreters, name):
    command, environment = interpreters[name]
    script = "import sys; print(sys.implementation.name)"
    done = subprocess.run(
        [*command, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == name
    # The machine that the program is for, in its ELF header: 243 is RISC-V.
    with open([word for word in command if os.path.isfile(word)][-1], "rb") as program:
        assert program.read(20)[18:20] == (243).to_bytes(2, "little")


@pytest.mark.parametrize("architecture", kit.ARCHITECTURES)
def test_a_package_unpacks_and_runs(interpreters, architecture, tmp_path):
    name, data = package.package(architecture)
    (tmp_path / name).write_bytes(data)
    shutil.unpack_archive(tmp_path / name, tmp_path)
    folder = tmp_path / name.removesuffix(".tar.xz")
    loader = folder / "kit" / kit.LOADER
    loader.rename(loader.with_name("loader"))
    emulator = userland.emulator(architecture)
    loader.write_text(f'#!/bin/sh\nexec {emulator} {loader.with_name("loader")} "$@"\n')
    loader.chmod(0o755)
    command = [folder / "tenner-agent", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "--heartbeat" in done.stdout


@pytest.mark.parametrize(
    "name, path", list(files()), ids=lambda value: getattr(value, "stem", value)
)
def test_on_riscv64(interpreters, name, path, monkeypatch):
    command, environment = interpreters[name]
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    done = run_file([*command, str(path)], {**os.environ, **environment})
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    if name == "cpython":
        assert "\nRan " in output, output
        return
    passed, failed, skipped = (int(count) for count in LAST_LINE.findall(done.stdout)[-1])
    assert failed == 0, output
    if skipped and not passed:
        pytest.skip("; ".join(row for row in output.splitlines() if row.startswith("SKIP: ")))
