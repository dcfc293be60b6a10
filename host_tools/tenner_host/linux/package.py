"""`make package`: for each architecture a tar.xz that unpacks and runs anywhere, with no
installation."""

from __future__ import annotations

import lzma
import sys
from pathlib import Path

from tenner_host import BOARDS, FIRMWARE, ROOT, tenner_version
from tenner_host.errors import CommandError, reason
from tenner_host.linux import kit, release
from tenner_host.places import build_folder, write_whole
from tenner_host.tarball import tarred

OUTPUT = build_folder() / "packages"
_README = """\
tenner {version} for Linux on {architecture}

    ./tenner-agent --help

runs here and anywhere else this folder is copied to; nothing has to be installed. kit/ has
MicroPython with the loader and the libraries it needs, from Debian; kit/copyright/ has their
licenses, and SOURCES names the versions of Debian's source packages. boards/ has the pins and
example settings of known boards: copy pins.csv of yours into the root folder of the agent (see
--help), and the example to config.json beside it.

{project}
"""


def package(architecture: str) -> tuple[str, bytes]:
    """The name and the contents of the package for one architecture."""
    extra = {"LICENSE": (ROOT / "LICENSE").read_bytes()}
    for name in release.linux_boards():
        for path in sorted((BOARDS / name).iterdir()):
            extra[f"boards/{name}/{path.name}"] = path.read_bytes()
    extra["config.example.jsonc"] = (FIRMWARE / "config.example.jsonc").read_bytes()
    for path in sorted((FIRMWARE / "workspace").rglob("*")):
        if path.is_file():
            extra[f"workspace/{path.relative_to(FIRMWARE / 'workspace').as_posix()}"] = (
                path.read_bytes()
            )
    version = tenner_version()
    extra["README"] = _README.format(
        version=version, architecture=architecture, project="MIT license; see LICENSE."
    ).encode()
    made = release.build("micropython", architecture, None, extra=extra)
    name = f"tenner-{version}-linux-{architecture}"
    files = {f"{name}/{path}": data for path, data in made.files.items()}
    return f"{name}.tar.xz", lzma.compress(tarred(files, executable=release.EXECUTABLE), preset=9)


def unpacked_kit(path: Path) -> dict[str, bytes]:
    """The interpreter in a package, for a computer that cannot fetch one."""
    import tarfile

    try:
        with tarfile.open(path) as archive:
            found = {}
            for entry in archive:
                inside = entry.name.partition("/")[2]
                data = archive.extractfile(entry) if entry.isfile() else None
                if inside.startswith("kit/") and data is not None:
                    found[inside.removeprefix("kit/")] = data.read()
    except OSError as exc:
        raise CommandError(f"{path} can't be read: {reason(exc)}") from exc
    except (tarfile.TarError, EOFError, lzma.LZMAError) as exc:
        raise CommandError(
            f"{path} is no package of `make package`, or it was cut or damaged"
        ) from exc
    if kit.LOADER not in found:
        raise CommandError(f"{path} is no package of `make package`: it has no kit/{kit.LOADER}")
    return found


def main(argv: list[str]) -> int:
    unknown = set(argv) - set(kit.ARCHITECTURES)
    if unknown:
        print(
            f"tenner: no architecture {' '.join(sorted(unknown))}; available: "
            f"{' '.join(kit.ARCHITECTURES)}"
        )
        return 2
    for architecture in argv or kit.ARCHITECTURES:
        try:
            name, data = package(architecture)
            write_whole(OUTPUT / name, data)
        except CommandError as exc:
            print(f"tenner: {exc.message}", file=sys.stderr)
            return 1
        print(f"{len(data) / 1e6:5.2f} MB  {OUTPUT / name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
