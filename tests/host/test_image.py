"""An image with the agent inside: it runs with nothing in /lib, and newer code in /lib goes before
it."""

import json
import re

import pytest
import yaml

from tenner_host import BOARDS, ROOT, image, interpreters, tenner_version
from tenner_host.board.opening import open_board
from tenner_host.build import BuildError, Form, firmware_tree
from tenner_host.partitions import APP, file_system
from tenner_host.project import Project
from tenner_host.release import keys
from tenner_host.release.release import code_of
from tenner_host.sync.run import synchronize
from tenner_sim.services import Services
from tenner_sim.vboard import VirtualBoard
from tests.host.e2e import ASK, PSRAM, READS, Bench, tree
from tests.variants import build as own


def never(path, here, board):
    raise AssertionError(f"{path} is no conflict")


@pytest.fixture(params=["romfs", "frozen"])
def interpreter(request):
    """One with the agent inside: frozen, or in the partition that it mounts; skips where it cannot
    be built."""
    try:
        made = own.frozen(image.frozen_sources()) if request.param == "frozen" else own.plain()
    except own.CannotBuild as exc:
        pytest.skip(str(exc))
    return interpreters.probe(request.param, own.argv(made))


@pytest.fixture
def partition(tmp_path):
    """Writes the partition of an image and returns its path, as the board's environment."""

    def write(code, change=lambda data: data):
        path = tmp_path / "romfs.img"
        path.write_bytes(change(image.partition("VIRTUAL", code=code)))
        return {"TENNER_ROMFS": str(path)}

    return write


def without_code(services):
    files = tree(services)
    return {path: data for path, data in files.items() if not path.startswith("/lib/")}


def lib(board):
    return {path for path in board.read_tree() if path.startswith("/lib/")}


def test_it_runs_with_nothing_in_lib(interpreter, partition):
    environment = partition(code=interpreter.name == "romfs")
    with (
        Services(tls=False) as services,
        VirtualBoard(
            without_code(services), interpreter=interpreter, heap=PSRAM, environment=environment
        ) as board,
    ):
        bench = Bench(board, services).ready()
        board.set("room.temperature", 21.5)
        assert bench.ask(ASK) == READS.format(21.5)
        assert lib(board) == set()


def test_newer_code_in_lib_goes_before_it(interpreter, partition):
    """MicroPython itself looks into the partition first."""
    environment = partition(code=interpreter.name == "romfs")
    newer = {"/lib/tenner/" + path: data for path, data in code_of("9.9.9").items()}
    with (
        Services(tls=False) as services,
        VirtualBoard(
            {**without_code(services), **newer},
            interpreter=interpreter,
            heap=PSRAM,
            environment=environment,
        ) as board,
    ):
        Bench(board, services).wait_for("tenner 9.9.9 on esp32")


def another_build(data):
    """The partition of an image from another day."""
    at = data.index(image.about("VIRTUAL", firmware_tree("VIRTUAL")).encode())
    return data[:at] + b"0" * 12 + data[at + 12 :]


@pytest.mark.parametrize(("change", "inside"), [(bytes, True), (another_build, False)])
def test_a_sync_leaves_out_what_is_inside(partition, tmp_path, monkeypatch, change, inside):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "workspace").mkdir()
    with Services(tls=False) as services:
        environment = partition(True, change)
        # The code on the flash is of this checkout.
        with VirtualBoard(tree(services), heap=PSRAM, environment=environment) as board:
            with open_board(board.pty) as link:
                report = synchronize(link, Project(tmp_path), ask=never, board_name="VIRTUAL")
            assert report.info.agent == tenner_version()
            assert report.started.running, report.started.text
            assert ("/lib/tenner/app.mpy" in lib(board)) is not inside
            assert bool(lib(board) - {keys.ON_BOARD}) is not inside
            Bench(board, services).echo("still there")


# The definitions that a workflow builds images of; none is built here.

IMAGES = sorted(path.parent.name for path in BOARDS.glob("*/image"))
#: The size of MicroPython's own code in the app's partition, and the least size for files.
OFFICIAL, FILES = 1_800_000, 1 << 20


@pytest.mark.parametrize("board", IMAGES)
def test_the_partitions_fit_the_flash(board):
    rows = image.table(board)
    described = json.loads((BOARDS / board / "board.json").read_text())
    end = int(described["partitions"]["table"], 0) + 0x1000
    for row in rows:
        assert row.offset >= end and row.offset % 0x1000 == 0, row
        end = row.end
    app, romfs = (next(row for row in rows if row.label == name) for name in ("factory", "romfs"))
    assert (app.type, app.offset) == (APP, int(described["partitions"]["app"], 0))
    tree = firmware_tree(board, form=Form.FILES)
    code = sum(len(data) for path, data in tree.items() if path.endswith(".mpy"))
    assert app.size >= OFFICIAL + code
    # Room for the code too, and the subtype that MicroPython looks for.
    assert romfs.size >= len(image.partition(board, code=True)) and romfs.subtype == 0x8F
    files = file_system(rows, int(described["flash_size"].removesuffix("MB")) << 20)
    assert files is not None and files.offset == end and files.size >= FILES


@pytest.mark.parametrize("board", IMAGES)
def test_what_the_definitions_name_is_there(board):
    folder = BOARDS / board / "image"
    variant = (folder / "mpconfigvariant_TENNER.cmake").read_text()
    assert f"boards/{board}/sdkconfig.tenner" in variant and "MICROPY_VFS_ROM=1" in variant
    table = re.search(r'FILENAME="boards/(.*?)"', (folder / "sdkconfig.tenner").read_text())[1]
    assert (
        table == f"{board}/partitions-tenner.csv" and (folder / "partitions-tenner.csv").exists()
    )
    included = []
    exec((folder / "manifest.py").read_text(), {"include": included.append})
    own_paths = [path for path in included if not path.startswith("$(")]
    assert [(folder / path).resolve() for path in own_paths] == [ROOT / "firmware/manifest.py"]


def test_the_workflow_builds_each_of_them():
    workflow = yaml.safe_load((ROOT / ".github/workflows/images.yml").read_text())
    job = workflow["jobs"]["image"]
    assert sorted(job["strategy"]["matrix"]["board"]) == IMAGES
    # Every step that is not an action of others is a script that bash can read.
    steps = [step for step in job["steps"] if "uses" not in step]
    assert len(steps) == 3 and all(step["run"].strip() for step in steps)
    # An installed copy would write to the cache, and the steps after it look into the clone.
    assert "pip install -e ." in steps[0]["run"] and "build/image/data.romfs" in steps[2]["run"]


def test_the_parts_are_put_together():
    made = image.joined("ESP32_GENERIC", b"firmware", b"files")
    assert made.startswith(b"firmware\xff") and made.endswith(b"\xfffiles")
    assert made.index(b"files") == 0x240000 - 0x1000
    with pytest.raises(BuildError, match="do not fit into romfs"):
        image.joined("ESP32_GENERIC", b"firmware", bytes(0x80001))
    with pytest.raises(BuildError, match="do not fit into factory"):
        image.joined("ESP32_GENERIC_C3", bytes(0x240001), b"")
    with pytest.raises(BuildError, match="there is no image for VIRTUAL"):
        image.table("VIRTUAL")
