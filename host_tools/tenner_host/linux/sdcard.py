"""`tenner sd-card`: a board's network and ssh access, on the FAT partition of its card; the board
needs no typing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import rich_click as click

from tenner_host import prompts
from tenner_host.errors import CommandError, reason
from tenner_host.output import at_terminal, echo, json_option, print_json
from tenner_host.places import write_whole

#: Files that mark a boot partition, among any others on it.
_SIGNS = ("fip.bin", "boot.sd", "usb.dev", "wifi.sta", "wifi.ap", "logo.jpeg")
_NAME_LETTERS = 32
#: Between these lines rc.local is ours; the rest is the owner's.
_BEGIN, _END = "# tenner: begin", "# tenner: end"
_SCRIPT = """\
{begin}
# The key beside this file may log in as root. The system reads Wi-Fi from wifi.ssid and wifi.pass.
if [ -f /boot/tenner.key ]; then
    mkdir -p /root/.ssh && chmod 700 /root/.ssh
    grep -qxF "$(cat /boot/tenner.key)" /root/.ssh/authorized_keys 2>/dev/null ||
        cat /boot/tenner.key >>/root/.ssh/authorized_keys
    chmod 600 /root/.ssh/authorized_keys
fi
{end}
"""


@click.command(name="sd-card")
@click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--ssid", metavar="NAME", help="Name of the Wi-Fi network. [default: ask]")
@click.option(
    "--password-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Take its password from the first line of this file. [default: ask]",
)
@click.option(
    "--key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The public ssh key that may log in as root. [default: the first of ~/.ssh/*.pub]",
)
@click.option(
    "--force", is_flag=True, help="Write even if this does not look like a boot partition."
)
@json_option
def sd_card(
    path: Path,
    ssid: str | None,
    password_file: Path | None,
    key: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Prepare the FAT partition of a LicheeRV Nano's card, mounted at PATH: Wi-Fi, and your ssh
    key.

    Put the card into the board and switch it on. A minute later,
    `tenner deploy root@licheervnano-XXXX.local` finds it. The card's other files stay unchanged.
    """
    if not force and not any((path / name).exists() for name in _SIGNS):
        raise CommandError(
            f"{path} does not look like the boot partition of a LicheeRV Nano (none of "
            f"{', '.join(_SIGNS)}); name where it is mounted, or add --force"
        )
    if ssid is None:
        ssid = _ask("Name of the Wi-Fi network", lambda text: check_wifi(text, ""))
    password = _password(password_file)
    public = _public_key(key)
    files = plan(path, ssid, password, public)
    written = []
    for name, text in files.items():
        if _write(path / name, text):
            written.append(name)
    if as_json:
        print_json({"written": written, "key": bool(public)})
        return
    echo(f"{path}: {', '.join(written) or 'nothing to change'}")
    if public is None:
        echo(
            "no ssh key was found: make one with `ssh-keygen`, or log in with the board's password"
        )
    echo(
        "next: put the card into the board, then run `tenner deploy root@licheervnano-XXXX.local`"
    )


def plan(path: Path, ssid: str, password: str, public: str | None) -> dict[str, str]:
    """The files to write, by name."""
    check_wifi(ssid, password)
    files = {"wifi.sta": "", "wifi.ssid": f"{ssid}\n", "wifi.pass": f"{password}\n"}
    if public is not None:
        files["tenner.key"] = public
    try:
        known = (path / "rc.local").read_text(encoding="utf-8")
    except FileNotFoundError:
        known = "#!/bin/sh\n"
    except (OSError, UnicodeDecodeError) as exc:
        raise CommandError(f"{path / 'rc.local'} cannot be read: {reason(exc)}") from exc
    files["rc.local"] = with_script(known)
    return files


def with_script(text: str) -> str:
    """rc.local with our part inserted or renewed: before an `exit`, which would end it, and after
    the first line."""
    ours = _SCRIPT.format(begin=_BEGIN, end=_END)
    before, found, rest = text.partition(_BEGIN + "\n")
    if found:
        _, ended, after = rest.partition(_END + "\n")
        if not ended:
            raise CommandError(
                "rc.local has the beginning of tenner's part and not its end: remove it"
            )
        return before + ours + after
    first, _, others = text.partition("\n")
    if first.startswith("#!"):
        return f"{first}\n{ours}{others}"
    return ours + text


def check_wifi(ssid: str, password: str) -> None:
    """Raise CommandError for a name or password that no access point can have."""
    if not 0 < len(ssid.encode()) <= _NAME_LETTERS or "\n" in ssid:
        raise CommandError(f"a Wi-Fi network's name has 1 to {_NAME_LETTERS} bytes")
    if password and (not 8 <= len(password.encode()) <= 64 or "\n" in password):
        raise CommandError(
            "a Wi-Fi password has 8 to 64 characters; leave it empty for an open network"
        )


def _ask(question: str, check: Callable[[str], None], *, hidden: bool = False) -> str:
    if not at_terminal():
        raise CommandError("there is no terminal to ask at: use --ssid and --password-file")

    def take(text: str) -> str:
        check(text)
        return text

    return prompts.ask_for(question, take, hidden=hidden)


def _password(file: Path | None) -> str:
    if file is None:
        question = "Its password (not shown; Enter for none)"
        return _ask(question, lambda text: check_wifi("any", text), hidden=True)
    try:
        return (file.read_text(encoding="utf-8").splitlines() or [""])[0]
    except (OSError, UnicodeDecodeError) as exc:
        raise CommandError(f"{file} cannot be read: {reason(exc)}") from exc


def _public_key(given: Path | None) -> str | None:
    """The key's line; None if the user has no key."""
    found = [given] if given else sorted((Path.home() / ".ssh").glob("*.pub"))
    if not found:
        return None
    text = found[0].read_text(encoding="utf-8").strip()
    if not text.startswith(("ssh-", "ecdsa-", "sk-")) or "\n" in text:
        raise CommandError(f"{found[0]} is no public ssh key")
    return text + "\n"


def _write(path: Path, text: str) -> bool:
    """Replace a file atomically; False if it is equal already. No Windows line ends: a shell reads
    it."""
    data = text.encode()
    try:
        if path.is_file() and path.read_bytes() == data:
            return False
    except OSError as exc:
        raise CommandError(f"{path} cannot be read: {reason(exc)}") from exc
    write_whole(path, data)
    return True
