"""The interpreters of the firmware tests, and the place of the firmware's code in each."""

from __future__ import annotations

import functools
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from tenner_host import FIRMWARE, build, interpreters, romfs_image
from tenner_host.places import build_folder, write_whole
from tests.variants import build as own

#: Interpreters built here, with the firmware's code inside.
WITH_CODE = ("micropython32rom", "micropython32frozen")
NAMES = (*interpreters.FINDERS, *WITH_CODE)


@dataclass(frozen=True)
class Runner:
    """An interpreter, the folders of the firmware and its data, and further environment
    variables."""

    interpreter: interpreters.Interpreter
    places: tuple[str, ...] = (str(FIRMWARE),)
    environment: dict[str, str] = field(default_factory=dict)

    def environment_with(self, before: Path, after: Path) -> dict[str, str]:
        """The environment of a test, with a folder of modules before the firmware's and one
        after."""
        path = [str(before), *self.places, str(after)]
        if ".frozen" not in path:
            path.append(".frozen")
        return {**os.environ, "MICROPYPATH": ":".join(path), **self.environment}


@functools.cache
def find(name: str) -> Runner:
    """The runner of this name, built if necessary; InterpreterMissing gives the reason for its
    absence."""
    try:
        if name == "micropython32rom":
            return _with_romfs()
        if name == "micropython32frozen":
            return _frozen()
    except own.CannotBuild as exc:
        raise interpreters.InterpreterMissing(f"{name}: {exc}") from exc
    return Runner(interpreters.FINDERS[name]())


def _with_romfs() -> Runner:
    """The original modules, compiled, in a partition at /rom."""
    partition = romfs_image.image(
        {f"/lib/{path}": data for path, data in build.linux_tree(mpy=True).items()}
    )
    path = build_folder() / f"romfs-{hashlib.sha256(partition).hexdigest()[:16]}.img"
    if not path.exists():
        old = set(path.parent.glob("romfs-*.img")) - {path}
        write_whole(path, partition)
        for one in old:
            one.unlink(missing_ok=True)
    found = interpreters.probe("micropython32rom", own.argv(own.plain()))
    return Runner(found, ("/rom/lib",), {"TENNER_ROMFS": str(path)})


def _frozen() -> Runner:
    """The modules frozen as in firmware/manifest.py; their data files stay files."""
    found = own.argv(own.frozen(build.modules()))
    runner = interpreters.probe("micropython32frozen", found)
    return Runner(runner, (".frozen", str(FIRMWARE)))
