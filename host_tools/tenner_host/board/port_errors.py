"""Sentences about a broken port or a silent board: the fault, its reason and the exact next
step."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

_OS_RELEASE = Path("/etc/os-release")
_PROC = Path("/proc")
_RULES = "/etc/udev/rules.d/70-tenner.rules"


def explain_open(device: str, error: BaseException) -> str:
    """The reason a port does not open, and the remedy."""
    number = getattr(error, "errno", None)
    text = str(error)
    if "://" in device:
        return (
            f"{device} cannot be opened: {_short(error)}; is its server running, "
            "and is the address right?"
        )
    # On Windows pyserial has the cause in its text alone, and no number.
    if number == errno.ENOENT or "FileNotFoundError" in text or not _exists(device):
        from tenner_host.board.ports import list_ports

        known = ", ".join(port.label for port in list_ports()) or "none"
        return (
            f"there is no port {device}; connected: {known}. Check the cable (a charging cable "
            "has no data lines)"
        )
    if number in (errno.EACCES, errno.EPERM):
        return f"no permission for {device}: {permission_fix(device)}"
    in_use = ("exclusively lock", "PermissionError")
    if number in (errno.EBUSY, errno.EAGAIN, errno.EWOULDBLOCK) or any(s in text for s in in_use):
        names = holders(device)
        return f"{device} is used by another program{_named(names)}; {_rid_of(device, names)}"
    return f"{device} cannot be opened: {_short(error)}"


def _exists(device: str) -> bool:
    return sys.platform == "win32" or os.path.exists(device)


def _short(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or str(error)).rstrip(".")


def _named(names: list[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _rid_of(device: str, names: list[str]) -> str:
    """The advice about the programs that have the port open."""
    if not any(name.startswith("ModemManager") for name in names):
        return "close it and try again"
    from tenner_host.board.ports import list_ports

    vendor = next((port.vid for port in list_ports() if port.device == device), None)
    which = "" if vendor is None else f'ATTRS{{idVendor}}=="{vendor:04x}", '
    return (
        "it looks for a modem on every new port: wait half a minute and try again. To keep it "
        "away, put "
        f'into {_RULES} the line SUBSYSTEM=="tty", {which}ENV{{ID_MM_DEVICE_IGNORE}}="1" and '
        "plug the board in "
        "again"
    )


def holders(device: str) -> list[str]:
    """Other programs that have the port open, as far as this user may see."""
    target = os.path.realpath(device)
    found = []
    for descriptors in _PROC.glob("[0-9]*/fd"):
        pid = int(descriptors.parent.name)
        if pid == os.getpid():
            continue
        try:
            links = [os.readlink(link) for link in descriptors.iterdir()]
            if target in links:
                name = (descriptors.parent / "comm").read_text().strip()
                found.append(f"{name}, process {pid}")
        except OSError:
            continue  # somebody else's, or gone meanwhile
    return found


def distribution(release: Path = _OS_RELEASE) -> list[str]:
    """`ID` and `ID_LIKE` of this Linux, most exact first."""
    found: dict[str, str] = {}
    try:
        lines = release.read_text().splitlines()
    except OSError:
        return []
    for line in lines:
        key, _, value = line.partition("=")
        found[key] = value.strip().strip("\"'")
    return [word for key in ("ID", "ID_LIKE") for word in found.get(key, "").split()]


def permission_fix(
    device: str, system: Iterable[str] | None = None, owner: tuple[str, bool] | None = None
) -> str:
    """The command that gives this user access to the port on this system."""
    if sys.platform != "linux":
        return "log in as a user who may open serial ports"
    names = distribution() if system is None else list(system)
    group, group_may = owner or _owner(device)
    again = "then log out and in again"
    if not group_may or group == "root":
        rule = 'the line SUBSYSTEM=="tty", ENV{ID_BUS}=="usb", MODE="0660", TAG+="uaccess"'
        return f"only root may open it; put into {_RULES} {rule} and plug the board in again"
    if "nixos" in names:
        return (
            f'add extraGroups = [ "{group}" ]; to your user in configuration.nix, rebuild, {again}'
        )
    if "alpine" in names or "postmarketos" in names:
        return f"run `doas addgroup $USER {group}`, {again}"
    if any(name in names for name in ("silverblue", "kinoite", "fedora-coreos")):
        return (
            f"run `grep '^{group}:' /usr/lib/group | sudo tee -a /etc/group && "
            f"sudo usermod -aG {group} $USER`, {again}"
        )
    return f"run `sudo usermod -aG {group} $USER`, {again}"


def _owner(device: str) -> tuple[str, bool]:
    """Return the port's group, and whether the group may read and write."""
    import grp

    try:
        status = os.stat(device)
        may = bool(status.st_mode & stat.S_IRGRP and status.st_mode & stat.S_IWGRP)
        return grp.getgrgid(status.st_gid).gr_name, may
    except (OSError, KeyError):
        return "dialout", True


#: Output of boards without a running MicroPython: (text in the output, meaning and remedy).
_SIGNS = [
    (b"waiting for download", "it waits to be flashed: press its reset button, or run `tenner flash`"),  # noqa: E501
    (b"invalid header", "its flash is empty: `tenner flash` puts MicroPython on it"),
    (b"No bootable app", "its flash holds no application: run `tenner flash`"),
    (b"looks corrupt", "its file system is damaged: `tenner flash --fast` makes a new one"),
    (b"be corrupted. If you had", "its file system is damaged: `tenner flash --fast` makes a new one"),  # noqa: E501
    (b"flash_parts", "its partition table is broken: run `tenner flash`"),
    (b"Guru Meditation", "it crashes: unplug it and plug it back in; if it still does, run `tenner flash`"),  # noqa: E501
    (b"Brownout", "it gets too little power: try another USB port or cable"),
]  # fmt: skip


def explain_silence(device: str, heard: bytes) -> str:
    """Explain, from the board's output, why no REPL answered."""
    others = holders(device) if "://" not in device else []
    if others:
        return (
            f"no answer from {device}, which another program is reading, too{_named(others)}; "
            f"{_rid_of(device, others)}"
        )
    for sign, meaning in _SIGNS:
        if sign in heard:
            return f"no MicroPython answers at {device}: {meaning}"
    if heard.count(b"rst:0x") > 1:
        return (
            f"the board at {device} keeps restarting before Ctrl-C reaches it: hold its "
            "reset button, start this command, let go; or `tenner flash`"
        )
    if not heard.strip():
        return (
            f"the board at {device} says nothing: is MicroPython on it (`tenner flash` puts it "
            "there), is it powered, is it in deep sleep (press reset)?"
        )
    tail = heard[-200:].decode(errors="replace").strip().splitlines()[-1:]
    return (
        f"could not stop the program on the board at {device}: press its reset button and try "
        f"again; it last said: {tail[0] if tail else '?'}"
    )


def busy_sentence(device: str, limit_s: float | None) -> str:
    return (
        f"the board at {device} stopped answering for {limit_s:g} s in the middle of a command; "
        "press its reset button and try again"
        if limit_s is not None
        else f"the board at {device} stopped answering; press its reset button and try again"
    )
