"""Deploying to Linux boards, as far as it needs neither ssh nor Debian's packages;
`make test-deploy` has the rest."""

import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from tenner_host import FIRMWARE, debian, places
from tenner_host.board.linux_board import Ending, Probe
from tenner_host.board.ssh import Ssh, script
from tenner_host.doctor import linux_board as doctor
from tenner_host.errors import BoardGone, BoardSilent, CommandError
from tenner_host.linux import deploy, kit, package, release
from tenner_host.project import Project

HASH = "0123456789abcdef" * 4
KIT = {"ld.so": b"loader", "micropython": b"program", "libc.so.6": b"library"}


def probe(**values):
    found = Probe.parse(
        "user root\nbase /opt/tenner\nsystem Linux\nmachine riscv64\nhost licheervnano-1a2b\n"
        f"clock {int(time.time())}\npython 3.11.6\nspace 4096 1000 500\n"
        "about runtime micropython\n"
        f"{HASH}  ./lib/tenner/app.mpy\n{HASH}  ./gone\n"
    )
    found.values.update(values)
    return found


def unpack_fake(architecture, packages, root):
    """Write the part of dpkg-deb's output for Debian's micropython from which a kit is made."""
    libraries = root / "usr/lib/riscv64-linux-gnu"
    libraries.mkdir(parents=True)
    (root / "usr/bin").mkdir()
    (root / "usr/bin/micropython").write_bytes(b"program")
    for name in ("libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-riscv64-lp64d.so.1"):
        (libraries / name).write_bytes(name.encode())
    for link, name in (
        ("libffi.so.8", "libffi.so.8.1.4"),
        ("libmbedtls.so.21", "libmbedtls.so.3"),
    ):
        (libraries / name).write_bytes(name.encode())
        (libraries / link).symlink_to(name)
    (libraries / "libother.so.1").write_bytes(b"other")
    (root / "usr/share/doc/libc6").mkdir(parents=True)
    (root / "usr/share/doc/libc6/copyright").write_text("LGPL")
    with debian_changelog(root / "usr/share/doc/libc6/changelog.Debian.gz") as file:
        file.write(b"glibc (2.41-12) trixie; urgency=medium\n")


def debian_changelog(path):
    import gzip

    return gzip.open(path, "wb")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TENNER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(debian, "check_tools", lambda: None)
    monkeypatch.setattr(debian, "unpack", unpack_fake)
    return places.cache_folder()


# --- the kit


def test_a_kit_has_what_runs_and_who_made_it_and_nothing_else(cache):
    made = kit.kit("riscv64")
    assert sorted(made) == [
        *("copyright/SOURCES", "copyright/libc6", "ld.so", "libc.so.6", "libffi.so.8"),
        *("libgcc_s.so.1", "libm.so.6", "libmbedtls.so.21", "micropython"),
    ]
    assert made["libffi.so.8"] == b"libffi.so.8.1.4"
    assert made["ld.so"] == b"ld-linux-riscv64-lp64d.so.1"
    assert made["copyright/SOURCES"] == b"glibc 2.41-12\n"


def test_a_kit_in_the_cache_is_used_only_while_it_is_whole_and_new(cache, monkeypatch):
    made = kit.kit("riscv64")
    calls = []

    def unpack(*args):
        calls.append(args[0])
        unpack_fake(*args)

    monkeypatch.setattr(debian, "unpack", unpack)
    assert kit.kit("riscv64") == made and calls == []
    (folder,) = cache.glob("kit-*")
    (folder / "libc.so.6").write_bytes(b"damaged")
    assert kit.kit("riscv64") == made and len(calls) == 1
    os.utime(folder / kit.SUMS, (1, 1))
    assert kit.kit("riscv64") == made and len(calls) == 2


def test_a_kit_without_the_broken_tls_of_debian_13(cache, monkeypatch):
    def unpack(architecture, packages, root):
        unpack_fake(architecture, packages, root)
        libraries = root / "usr/lib/riscv64-linux-gnu"
        (libraries / "libmbedtls.so.21").unlink()
        (libraries / "libmbedtls.so.3").rename(libraries / "libmbedtls.so.3.6.6")
        (libraries / "libmbedtls.so.21").symlink_to("libmbedtls.so.3.6.6")

    def unpack_testing(architecture, packages, root):
        assert architecture == "riscv64" and "libmbedtls21" in packages
        libraries = root / "usr/lib/riscv64-linux-gnu"
        (libraries / f"libmbedtls.so.{newer}").write_bytes(b"newer")
        (libraries / "libmbedtls.so.21").symlink_to(f"libmbedtls.so.{newer}")

    monkeypatch.setattr(debian, "unpack", unpack)
    monkeypatch.setattr(debian, "unpack_testing", unpack_testing)
    newer = "3.6.6"
    with pytest.raises(debian.CannotFetch, match=r"next release has Mbed TLS 3\.6\.6 too"):
        kit.kit("riscv64")
    newer = "3.6.7"
    made = kit.kit("riscv64")
    assert made["libmbedtls.so.21"] == b"newer"
    assert not any("3.6" in name for name in made)


def test_an_old_kit_is_better_than_none(cache, monkeypatch):
    made = kit.kit("riscv64")
    (folder,) = cache.glob("kit-*")
    os.utime(folder / kit.SUMS, (1, 1))

    def unpack(*args):
        raise debian.CannotFetch("no network")

    monkeypatch.setattr(debian, "unpack", unpack)
    assert kit.kit("riscv64") == made
    with pytest.raises(CommandError, match="no MicroPython for armhf: no network"):
        release.build("micropython", "armhf", None)


# --- releases and packages


def test_the_same_release_has_the_same_name_and_another_one_another():
    made = release.build("micropython", "riscv64", "LICHEERV_NANO", own_kit=KIT)
    again = release.build("micropython", "riscv64", "LICHEERV_NANO", own_kit=KIT)
    other = release.build("micropython", "riscv64", None, own_kit=KIT)
    assert made.name == again.name != other.name
    assert made.packed(made.files) == again.packed(again.files)
    assert b"I2C5" in made.files["lib/tenner/pins.csv"]
    assert "lib/tenner/pins.csv" not in other.files
    assert "lib/tenner/port/linux/port.mpy" in made.files


def test_sha256sum_accepts_what_a_release_says_of_itself(tmp_path):
    made = release.build("micropython", "riscv64", None, own_kit=KIT)
    (tmp_path / "release.tar.gz").write_bytes(made.packed(made.files))
    with tarfile.open(tmp_path / "release.tar.gz") as archive:
        archive.extractall(tmp_path)
    done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stdout
    for name in ("tenner-agent", "ctl", "kit/ld.so", "kit/micropython"):
        assert os.access(tmp_path / name, os.X_OK), name
    assert not os.access(tmp_path / "RELEASE", os.X_OK)


def test_a_release_for_cpython_runs_from_anywhere(tmp_path):
    made = release.build("cpython", None, None)
    assert not any(name.startswith("kit/") for name in made.files)
    with tarfile.open(tmp_path / "release.tar.gz", "w:gz") as archive:
        archive.close()
    (tmp_path / "release.tar.gz").write_bytes(made.packed(made.files))
    with tarfile.open(tmp_path / "release.tar.gz") as archive:
        archive.extractall(tmp_path / "somewhere")
    (tmp_path / "link").symlink_to(tmp_path / "somewhere/tenner-agent")
    done = subprocess.run(
        [tmp_path / "link", "--help"],
        cwd="/",
        env={**os.environ, "TENNER_PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert "--heartbeat" in done.stdout, done.stderr


def test_a_package_has_a_folder_of_its_own_and_gives_its_kit_back(tmp_path, monkeypatch):
    monkeypatch.setattr(kit, "kit", lambda architecture: KIT)
    name, data = package.package("armhf")
    path = tmp_path / name
    path.write_bytes(data)
    with tarfile.open(path) as archive:
        names = archive.getnames()
    folder = name.removesuffix(".tar.xz")
    assert all(one.startswith(folder + "/") for one in names)
    for inside in ("README", "LICENSE", "tenner-agent", "boards/LICHEERV_NANO/pins.csv"):
        assert f"{folder}/{inside}" in names
    assert package.unpacked_kit(path) == KIT


def test_a_file_that_is_no_package_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "x.tar.xz"
    whole = tmp_path / "whole.tar.xz"
    with tarfile.open(whole, "w:xz") as archive:
        archive.add(__file__, "tenner/kit/ld.so")
    assert package.unpacked_kit(whole)
    cut = whole.read_bytes()[:-99]
    for content in (b"something else", cut, cut[:50] + bytes(99) + cut[149:]):
        path.write_bytes(content)
        with pytest.raises(CommandError, match="or it was cut or damaged$"):
            package.unpacked_kit(path)
    with tarfile.open(path, "w"):
        pass
    with pytest.raises(CommandError, match="it has no kit/ld.so"):
        package.unpacked_kit(path)


# --- the board's answers


def test_only_what_differs_is_sent_and_what_is_gone_goes():
    made = release.Release({"lib/tenner/app.mpy": b"new", "ctl": b"same"})
    there = probe()
    there.files["ctl"] = made.hashes["ctl"]
    plan = deploy.plan_release(made, there)
    assert plan.write == {"lib/tenner/app.mpy": b"new"}
    assert plan.remove == ["gone"] and plan.unchanged == 1


def test_which_board_it_is(tmp_path):
    project = Project(tmp_path)
    assert deploy.board_folder(project, probe(), None) == "LICHEERV_NANO"
    assert deploy.board_folder(project, probe(host="pi"), None) is None
    assert deploy.board_folder(project, probe(host="pi"), "LICHEERV_NANO") == "LICHEERV_NANO"
    with pytest.raises(CommandError, match="no Linux board 'ESP32_GENERIC'; known: LICHEERV_NANO"):
        deploy.board_folder(project, probe(), "ESP32_GENERIC")


@pytest.mark.parametrize(
    "given, values, answer",
    [
        (None, {}, "micropython"),
        ("cpython", {}, "cpython"),
        (None, {"machine": "armv6l"}, "no MicroPython kit for 'armv6l'.*--runtime cpython"),
        ("cpython", {"python": "3.9.2"}, "python3 3.9.2; 3.10 or newer is needed"),
        ("cpython", {"python": ""}, "no python3 with ssl and asyncio"),
    ],
)
def test_who_interprets(given, values, answer):
    if " " not in answer:
        assert deploy.choose_runtime(given, probe(**values)) == answer
        return
    with pytest.raises(CommandError, match=answer):
        deploy.choose_runtime(given, probe(**values))


def test_a_runtime_that_was_chosen_once_stays():
    there = probe()
    there.about["runtime"] = "cpython"
    assert deploy.choose_runtime(None, there) == "cpython"


def test_a_board_that_cannot_be_deployed_to_is_refused_before_anything_is_sent():
    deploy.check(probe(), "board")
    there = probe()
    there.missing = ["sha256sum", "tar"]
    with pytest.raises(CommandError, match="board lacks sha256sum, tar"):
        deploy.check(there, "board")
    with pytest.raises(CommandError, match="may not write to /opt on board: log in as root"):
        deploy.check(probe(readonly="/opt"), "board")


def test_a_clock_that_is_wrong_is_told():
    assert deploy.clock_hint(probe()) == ""
    assert "h behind" in deploy.clock_hint(probe(clock="0"))
    assert "2 h ahead" in deploy.clock_hint(probe(clock=str(int(time.time()) + 7200)))


@pytest.mark.parametrize(
    "log, reason",
    [
        (
            ["   +0.0s boot      x", '   +0.0s config    c.json: unknown key "nmae"'],
            'c.json: unknown key "nmae"',
        ),
        (
            ["Traceback (most recent call last):", '  File "x"', "ValueError: broken"],
            "ValueError: broken",
        ),
        (["MemoryError: memory allocation failed"], "MemoryError: memory allocation failed"),
        (["kit/ld.so: cannot execute"], "kit/ld.so: cannot execute"),
        ([], "it ended"),
    ],
)
def test_why_a_release_did_not_start(log, reason):
    text = "".join(f"log {line}\n" for line in log) + "why it ended\nresult back\n"
    assert Ending.parse(text) == Ending("back", reason)


def test_what_ssh_says_becomes_a_sentence(monkeypatch):
    monkeypatch.setenv("TENNER_SSH", sys.executable)
    ssh = Ssh("ssh://root@board")
    try:
        for said, kind, sentence in (
            ("Host key verification failed.", BoardSilent, "run `ssh root@board` once"),
            ("ssh: connect to host board port 22: Connection refused", BoardSilent, "is the ssh"),
            ("kex_exchange_identification: nonsense", BoardSilent, "no connection to root@board"),
            ("client_loop: send disconnect: Broken pipe", BoardGone, "was lost"),
            ("", BoardGone, "was lost"),
        ):
            found = ssh.lost(said)
            assert type(found) is kind and sentence in found.message
        # The host's text is never an option of ssh.
        assert ssh.argv("true")[-3:-1] == ["--", "ssh://root@board"]
    finally:
        ssh.close()


@pytest.mark.parametrize("path", sorted((Path(release.__file__).parent / "onboard").glob("*.sh")))
def test_the_scripts_are_plain_shell(path):
    for shell in ("dash", "bash", "busybox"):
        words = {"busybox": ["busybox", "sh"]}.get(shell, [shell])
        try:
            done = subprocess.run([*words, "-n", path], capture_output=True, text=True)
        except FileNotFoundError:
            continue
        assert done.returncode == 0, done.stderr


def test_this_machine_can_be_looked_at(tmp_path):
    done = subprocess.run(
        ["sh", "-c", script("probe"), "sh", "files"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    found = Probe.parse(done.stdout)
    assert found.get("machine") == os.uname().machine
    assert found.space[2] > 0 and abs(found.clock_off_s()) < 60


# --- least power

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="another user has no rights to give up")
ONBOARD = Path(release.__file__).parent / "onboard"
STARTER = ("-m", "tenner.port.linux.least_power")


def unit(folder, mounts="true"):
    """Return the unit that `ctl` writes, as lines; `mounts` is the command in place of
    systemd-run."""
    base = folder / "opt/tenner"
    (base / "releases/a1b2").mkdir(parents=True)
    (base / "releases/a1b2/ctl").write_bytes((ONBOARD / "ctl.sh").read_bytes())
    (base / "releases/a1b2/ctl").chmod(0o755)
    (base / "current").symlink_to("releases/a1b2")
    (folder / "bin").mkdir()
    (folder / "bin/systemd-run").write_text(f"#!/bin/sh\n{mounts}\n")
    (folder / "bin/systemd-run").chmod(0o755)
    env = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder)}
    command = ["sh", base / "current/ctl", "unit"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


@ROOT_ONLY
def test_the_service_of_root_gives_up_what_it_does_not_need(tmp_path):
    made = unit(tmp_path)
    lines = made.splitlines()
    for line in (
        "NoNewPrivileges=yes",
        (
            "CapabilityBoundingSet=CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_KILL CAP_SETGID "
            "CAP_SETUID CAP_SYS_ADMIN"
        ),
        "ProtectSystem=full",
        "PrivateTmp=yes",
        f"ReadOnlyPaths={tmp_path}/opt/tenner /proc/sys -/proc/sysrq-trigger",
        "RestrictNamespaces=ipc net",
        # Devices on the pins and buses, but no disk.
        "DevicePolicy=closed",
        "DeviceAllow=char-* rw",
    ):
        assert line in lines, made
    # By these the buses in /sys and /dev would be lost.
    for name in ("PrivateDevices", "ProtectKernelTunables", "ProtectHome"):
        assert name not in made
    # The agent's own preparation must run before, with all rights, and must not keep it from
    # starting.
    assert [line for line in lines if line.startswith("ExecStartPre=-+/bin/sh")] != []
    (tmp_path / "tenner.service").write_text(made)
    try:
        command = [
            "systemd-analyze",
            "verify",
            "--recursive-errors=no",
            tmp_path / "tenner.service",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return
    assert "tenner.service" not in done.stderr, done.stderr


@ROOT_ONLY
def test_where_nothing_can_be_mounted_the_service_starts_without_that(tmp_path):
    made = unit(tmp_path, "exit 1")
    assert "NoNewPrivileges=yes" in made and "CapabilityBoundingSet=" in made
    assert "PrivateTmp" not in made and "ReadOnlyPaths" not in made
    assert made.endswith("[Install]\nWantedBy=multi-user.target\n")


def rights_of(*command):
    """Return the findings of onboard/rights.sh about a process started with least power."""
    env = {**os.environ, "PYTHONPATH": str(FIRMWARE)}
    asked = [sys.executable, *STARTER, "/bin/sh", "-c", 'echo go; read _; "$@"', "sh", *command]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(asked, env=env, text=True, **pipes) as process:
        assert process.stdout.readline() == "go\n"
        looked = ["sh", "-c", script("rights"), "sh", str(process.pid), str(FIRMWARE / "tenner")]
        found = subprocess.run(looked, capture_output=True, text=True, check=True)
        said, _ = process.communicate("\n")
    return dict(line.split(" ", 1) for line in found.stdout.splitlines()), said


@ROOT_ONLY
def test_every_other_init_starts_it_with_as_little(tmp_path):
    found, said = rights_of("sh", "-c", "touch /etc/tenner-was-here 2>&1; ls /tmp | wc -l")
    if found["release"] != "ro":
        pytest.skip("no file system can be mounted here")
    assert doctor.rights(found, "sysvinit").state.value == "ok", found
    assert "Read-only" in said and said.endswith("0\n")


@ROOT_ONLY
def test_a_command_of_the_models_runs_under_an_agent_with_least_power():
    """The sandbox needs capabilities; those it gets are enough."""
    if any(parent in (Path("/tmp"), Path("/var/tmp")) for parent in FIRMWARE.resolve().parents):
        pytest.skip("least power hides a checkout below /tmp from its programs")
    test = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "tests/test_tools_exec.py",
        "-p",
        "no:cacheprovider",
    ]
    env = {**os.environ, "PYTHONPATH": str(FIRMWARE)}
    command = [sys.executable, *STARTER, *test, "-k", "TestExec and not micropython"]
    done = subprocess.run(command, cwd=FIRMWARE.parent, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout and " 0 skipped" in done.stdout


@pytest.mark.parametrize(
    "changes, says",
    [
        ({}, ""),
        ({"NoNewPrivs": "0"}, "may gain rights"),
        ({"CapBnd": "000001ffffffffff"}, "all of root's capabilities"),
        ({"release": "rw"}, "overwrite its own code"),
        ({"tmp": None}, "shares /tmp"),
        ({"Uid": "1000", "CapBnd": "000001ffffffffff", "release": "rw", "tmp": None}, ""),
    ],
)
def test_the_doctor_says_which_rights_are_too_many(changes, says):
    found = {"Uid": "0", "NoNewPrivs": "1", "CapBnd": "2000eb", "release": "ro", "tmp": "private"}
    found.update(changes)
    finding = doctor.rights({name: found[name] for name in found if found[name]}, "systemd")
    assert finding.state.value == ("warn" if says else "ok")
    assert says in finding.text
