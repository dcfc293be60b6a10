"""`tenner release`: make a signed release, or the key that signs it."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from tenner_host import tenner_version
from tenner_host.output import echo, json_option, print_json
from tenner_host.places import write_whole
from tenner_host.release import keys, micropython
from tenner_host.release.release import Release, check_notes, check_version, code_of, signed

#: Older versions cannot update themselves.
_OLDEST = "0.2.0"


@click.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--new-key", is_flag=True, help="Make the key that signs; it stays on this computer."
)
@click.option(
    "--bits",
    type=click.Choice([str(size) for size in keys.BITS]),
    default="2048",
    help="Size of the new key.",
)
@click.option(
    "--key",
    "key_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Sign with the private key in FILE (PEM) instead of yours.",
)
@click.option(
    "--version",
    "version",
    default=None,
    metavar="X.Y.Z",
    help="Version of the release; the default is tenner's.",
)
@click.option(
    "--from",
    "oldest",
    default=_OLDEST,
    metavar="X.Y.Z",
    help="Oldest version that it can replace.",
)
@click.option(
    "--notes",
    default="",
    metavar="SENTENCE",
    help="One sentence on the news, for the owner who approves it.",
)
@click.option(
    "--family", default="esp32", metavar="NAME", help="Chip family; esp32 covers all ESP32 chips."
)
@click.option(
    "--micropython",
    "image",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="IMAGE",
    help="Replace MicroPython, too, on boards of this image's chip with two slots.",
)
@json_option
def release(
    file: Path | None,
    new_key: bool,
    bits: str,
    key_file: Path | None,
    version: str | None,
    oldest: str,
    notes: str,
    family: str,
    image: Path | None,
    as_json: bool,
) -> None:
    """Write the agent's code as one signed FILE that your boards can install.

    Without FILE it's called tenner-VERSION-FAMILY.release. A board accepts it once `tenner setup`
    or `tenner sync` has given it this computer's public key over the cable.
    """
    if new_key:
        path = keys.new_key(int(bits))
        if as_json:
            print_json({"key": str(path), "id": keys.key_id(path.with_suffix(".pub").read_text())})
        else:
            echo(
                f"made {path}. Keep a copy in a safe place: boards only accept releases of "
                "this key"
            )
            echo(
                "`tenner setup` or `tenner sync` takes its public half to a board, over the cable"
            )
        return
    key = keys.load(key_file)
    version = check_version(version or tenner_version())
    made = Release(
        version,
        family,
        check_version(oldest),
        check_notes(notes),
        code_of(version, family),
        micropython=micropython.load(image) if image else None,
    )
    data = signed(made, key)
    path = file or Path(f"tenner-{version}-{family}.release")
    write_whole(path, data)
    key_name = keys.key_id(keys.public_line(key))
    if as_json:
        print_json({"file": str(path), "bytes": len(data), "version": version, "key": key_name})
    else:
        echo(f"{path}: version {version} for {family}, {len(made.files)} files, {len(data)} bytes")
        if made.micropython:
            echo(
                f"with MicroPython {made.micropython.version} for the {made.micropython.chip}, "
                f"{len(made.micropython.data)} bytes: for boards with two slots"
            )
        echo(f"signed with key {key_name}; replaces {made.oldest} and newer")
