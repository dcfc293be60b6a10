"""The ways code gets onto a board: as files on flash under a stock image, or inside our own
image."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tenner_host import budget, build, interpreters, romfs_image
from tests.bench.rows import NotMeasured
from tests.variants import build as own

#: The module search path, from the root folder: file names stay in the heap forever, and must not
#: be longer than a board's `/lib/...`.
MODULE_PATH = "chip:lib:.frozen"

#: The file below the root folder in which the counting build counts.
COUNTERS = "counters"
_PARTITION = "romfs.img"
_CODE = (".mpy", ".py")


@dataclass(frozen=True)
class Image:
    """An interpreter and where it has the firmware's code from."""

    name: str
    finder: Callable[[], interpreters.Interpreter]
    form: build.Form = build.Form.PACK

    def find(self) -> interpreters.Interpreter:
        """The interpreter, or NotMeasured."""
        try:
            return self.finder()
        except interpreters.InterpreterMissing as exc:
            raise NotMeasured(str(exc)) from exc

    def install(self, tree: dict[str, bytes], root: Path) -> None:
        """Write the board's files below `root`, which is its root folder."""
        build.write_tree(tree, root)

    def environment(self, root: Path) -> dict[str, str]:
        """The interpreter's environment variables."""
        return {"MICROPYPATH": MODULE_PATH}


def _find(name: str, make: Callable[[], Path]) -> interpreters.Interpreter:
    try:
        return interpreters.probe(name, own.argv(make()))
    except own.CannotBuild as exc:
        raise NotMeasured(str(exc)) from exc


class _Counting(Image):
    """The files are on flash, and the interpreter counts its own work."""

    def install(self, tree: dict[str, bytes], root: Path) -> None:
        super().install(tree, root)
        (root / COUNTERS).write_bytes(bytes(4096))

    def environment(self, root: Path) -> dict[str, str]:
        return {**super().environment(root), "TENNER_COUNTERS": str(root / COUNTERS)}


#: The free regions of a bare ESP32 with MicroPython 1.26.1 outside Python's heap, in order of
#: allocation.
_CHIP_POOL = "14656 4552 11848 112968"
_POOL = Path(__file__).parent / "chip" / "pool"

#: The bytes of a session's buffers on an ESP32 with MicroPython 1.26.1.
_BUFFERS_BYTES = 25246
#: By chain: the bytes that a session holds beside them for the server's certificates, and those of
#: the handshake for a moment.
CHAIN_BYTES = {
    name: (chain.held - _BUFFERS_BYTES, chain.peak - chain.held)
    for name, chain in budget.chains().items()
}
#: For packets and sockets at the same time: with it these rows agree with that chip,
#: where chains of ECDSA worked and those of RSA did not.
_TRAFFIC_BYTES = 6500
#: The hosts by which the agent of the bench tells its two servers apart.
_TELEGRAM, _MODEL = "localhost", "127.0.0.1"


@dataclass(frozen=True)
class _Chip(Image):
    """The files are on flash, and Python's heap grows into a memory that Wi-Fi and TLS use too, as
    on an ESP32."""

    #: Sizes of the regions of that memory, in bytes.
    pool: str = _CHIP_POOL
    #: The chain of both servers; None: each sends one like the real one's.
    chain: str | None = None

    def install(self, tree: dict[str, bytes], root: Path) -> None:
        compiled = build.compile_modules(
            {path.stem: path.read_bytes() for path in _POOL.glob("*.py")}
        )
        pool = {f"/pool/{name}.mpy": data for name, data in compiled.items()}
        # The sessions of pool/ssl.py take the memory of TLS and encrypt nothing.
        config = json.loads(tree["/config.json"].replace(b"http://", b"https://"))
        config["llm"]["base_url"] = config["llm"]["base_url"].replace(_TELEGRAM, _MODEL)
        settings = {"/config.json": json.dumps(config).encode(), "/certs/any.der": b"-"}
        super().install({**tree, **pool, **settings}, root)

    def environment(self, root: Path) -> dict[str, str]:
        chains = {_TELEGRAM: self.chain or "telegram", _MODEL: self.chain or "ecdsa"}
        sizes = []
        for host, chain in chains.items():
            kept, more = CHAIN_BYTES[chain]
            sizes.append(f"{host}:{kept}:{more + _TRAFFIC_BYTES}")
        return {
            "MICROPYPATH": "pool:" + MODULE_PATH,
            "TENNER_CHIP_POOL": self.pool,
            "TENNER_CHIP_CHAINS": " ".join(sizes),
        }


class _Romfs(Image):
    """Code and its data are in a ROMFS partition, and code runs in place."""

    def install(self, tree: dict[str, bytes], root: Path) -> None:
        code = {path: data for path, data in tree.items() if path.startswith("/lib/")}
        super().install({path: data for path, data in tree.items() if path not in code}, root)
        (root / _PARTITION).write_bytes(romfs_image.image(code))

    def environment(self, root: Path) -> dict[str, str]:
        return {
            "MICROPYPATH": MODULE_PATH.replace(":lib:", ":/rom/lib:"),
            "TENNER_ROMFS": str(root / _PARTITION),
        }


class _Frozen(Image):
    """Code is frozen into the interpreter; its data are in /lib, as the image's owner syncs
    them."""

    def install(self, tree: dict[str, bytes], root: Path) -> None:
        code = [path for path in tree if path.startswith("/lib/") and path.endswith(_CODE)]
        super().install({path: data for path, data in tree.items() if path not in code}, root)

    def environment(self, root: Path) -> dict[str, str]:
        return {"MICROPYPATH": MODULE_PATH.replace(":lib:.frozen", ":.frozen:lib")}


STOCK = Image("stock", interpreters.find_micropython32)
COUNTING = _Counting("counting", lambda: _find("micropython32count", own.counting))
ROMFS = _Romfs("romfs", lambda: _find("micropython32rom", own.plain), form=build.Form.ROM)
CHIP = _Chip("chip", lambda: _find("micropython32chip", own.chip))
FROZEN = _Frozen(
    "frozen",
    lambda: _find("micropython32frozen", lambda: own.frozen(build.chip_sources())),
    form=build.Form.FILES,
)
