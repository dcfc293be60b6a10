"""The files for a board, and that building them twice is safe and cheap."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tenner_host import build, overlay_maps
from tests.host.overlays_support import RUNTIME

TABLE = """
[program]
core = "tenner.app"
runtime = "tenner.overlay"
loader = "tenner.overlay_loader"
[room]
SPARE = 16_000
ROOMY = 42_000
[core]
modules = ["tenner", "tenner.app", "tenner.overlay", "tenner.overlay_loader", "tenner.port.package", "tenner.port.compat", "tenner.port.stream", "tenner.port.has_input", "tenner.port.opening"]
[phases]
IDLE = ""
WORK = ""
[linux]
modules = ["tenner.port.cpython", "tenner.tools.exec"]
"""  # noqa: E501


def _layout(overlay):
    made = {
        "overlays": {overlay: ["tenner.more: more"]},
        "phases": {"WORK": [overlay]},
        "cold": [],
    }
    return json.dumps(made).encode()


@pytest.fixture
def firmware(tmp_path):
    """A small firmware folder."""
    build.write_tree(
        {
            "/boot.py": b"# boot\n",
            "/main.py": b"from tenner.app import main\nmain()\n",
            "/manifest.py": b"",
            "/layout.toml": TABLE.encode(),
            "/layout.json": _layout("more"),
            "/tenner/__init__.py": b'__version__ = "1"\n__build__ = ""\n',
            "/tenner/store/__init__.py": b"# tenner store: files.\n",
            "/tenner/app.py": (
                b"from tenner.more import more\ndef main():\n    assert False\n    more()\n"
            ),
            "/tenner/more.py": b"def more():\n    raise ValueError(1)\n",
            "/tenner/tools/exec.py": b"def run(): pass\n",
            "/tenner/tools/exec.json": b"{}",
            "/tenner/tools/t.json": b'{\n  "name": "t\xc3\xa9"\n}\n',
            "/tenner/store/config.tsv": b"a\tb\n",
            "/tenner/agent/person.md": b"You are",
            "/tenner/__pycache__/app.pyc": b"junk",
            "/tenner/notes.txt": b"not for the board",
            "/workspace/SOUL.md": b"soul",
            "/workspace/memory/.gitkeep": b"",
            **{f"/{path}": (build.FIRMWARE / path).read_bytes() for path in RUNTIME},
        },
        tmp_path,
    )
    return tmp_path


def test_the_tree_of_a_board(firmware):
    tree = build.firmware_tree("VIRTUAL", firmware=firmware)
    assert list(tree) == [
        "/boot.py",
        "/lib/tenner/__init__.py",
        "/lib/tenner/app.mpy",
        "/lib/tenner/data.pack",
        "/lib/tenner/overlays.pack",
        "/lib/tenner/pins.csv",
        "/main.py",
        "/workspace/SOUL.md",
    ]
    assert tree["/main.py"].startswith(b"from tenner.app import main")
    assert tree["/lib/tenner/app.mpy"][:2] == b"M\x06"
    # The offset of the index, then the one overlay's name and its offset.
    pack = tree["/lib/tenner/overlays.pack"]
    assert pack[3:9] == b"id\x08\0\0M"
    assert '{"name":"té"}'.encode() in tree["/lib/tenner/data.pack"]
    assert b"exec" not in tree["/lib/tenner/data.pack"]
    assert b"I2C0_SCL,GPIO" in tree["/lib/tenner/pins.csv"]


def test_sources_stay_sources_without_mpy(firmware):
    tree = build.firmware_tree("VIRTUAL", mpy=False, workspace=False, firmware=firmware)
    assert tree["/lib/tenner/app.py"].startswith(b"from tenner.more")
    assert not [name for name in tree if name.endswith(".mpy") or name.startswith("/workspace")]


def test_a_build_has_an_id_by_which_its_tracebacks_are_understood(firmware):
    tree = build.firmware_tree(firmware=firmware)
    first = overlay_maps.build_of(tree)
    assert first in tree["/lib/tenner/__init__.py"].decode()
    assert (overlay_maps.BUILT / f"{first}.json").exists()
    assert overlay_maps.build_of(build.firmware_tree(firmware=firmware)) == first
    (firmware / "tenner" / "more.py").write_bytes(b"def more(): pass\n")
    assert overlay_maps.build_of(build.firmware_tree(firmware=firmware)) != first
    # Twice the length, the name, a zero: tracebacks show the first entry of a file's names.
    assert b"\x06app\0" in tree["/lib/tenner/app.mpy"]


def test_a_wrong_table_is_a_sentence(firmware):
    (firmware / "layout.toml").write_text(TABLE.replace('"tenner.app"', '"tenner.ape"'))
    with pytest.raises(build.BuildError, match="overlay core has tenner.ape, which does not"):
        build.firmware_tree(firmware=firmware)


def test_the_real_firmware_builds():
    tree = build.firmware_tree("VIRTUAL")
    assert "/lib/tenner/app.mpy" in tree
    for name, data in tree.items():
        if name.endswith(".json"):
            assert json.loads(data) is not None


def test_a_chip_gets_no_commands_and_linux_does():
    assert not [
        name for name in build.firmware_tree("VIRTUAL") if "exec" in name or "sandbox" in name
    ]
    chip = build.firmware_tree("VIRTUAL", mpy=False)
    assert b"tools/exec.json\t" not in chip["/lib/tenner/data.pack"]
    linux = build.linux_tree(mpy=True)
    assert "tenner/port/linux/sandbox.mpy" in linux
    assert b"tools/exec.json\t" in linux["tenner/data.pack"]


def test_an_unknown_board_names_the_known_ones(firmware):
    with pytest.raises(build.BuildError, match="known: .*VIRTUAL"):
        build.firmware_tree("NO_SUCH", firmware=firmware)


def test_a_syntax_error_says_where(firmware):
    (firmware / "tenner" / "app.py").write_bytes(b"x = 1\nif:\n")
    with pytest.raises(build.BuildError, match="(?s)tenner/app.py does not compile.*line 2"):
        build.firmware_tree(firmware=firmware)


def test_bad_json_says_where(firmware):
    (firmware / "tenner" / "tools" / "t.json").write_bytes(b"{")
    with pytest.raises(build.BuildError, match="tenner/tools/t.json is not JSON"):
        build.firmware_tree(firmware=firmware)


def test_compiled_output_is_kept_by_content(tmp_path, monkeypatch):
    first = build.compile_module(b"x = 1\n", "tenner/x.py", cache_folder=tmp_path)

    def no_compiler(*args, **kwargs):
        raise AssertionError("compiled again")

    monkeypatch.setattr(build.subprocess, "run", no_compiler)
    assert build.compile_module(b"x = 1\n", "tenner/x.py", cache_folder=tmp_path) == first
    with pytest.raises(AssertionError, match="compiled again"):
        build.compile_module(b"x = 2\n", "tenner/x.py", cache_folder=tmp_path)
    with pytest.raises(AssertionError, match="compiled again"):
        build.compile_module(b"x = 1\n", "tenner/y.py", cache_folder=tmp_path)


def test_builds_at_the_same_time_do_not_collide(tmp_path):
    source = b"".join(b"def f%d(): return %d\n" % (n, n) for n in range(200))

    def compile_it(_):
        return build.compile_module(source, "tenner/x.py", cache_folder=tmp_path)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(compile_it, range(16)))) == 1
    assert [path.suffix for path in tmp_path.iterdir()] == [".mpy"]


def test_a_tree_is_read_back(tmp_path):
    tree = {"/a/b": b"1", "/c": b""}
    build.write_tree(tree, tmp_path)
    assert build.read_tree(tmp_path) == tree


def test_processes_side_by_side_make_a_build_once(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "MPY_CACHE", tmp_path / "mpy")
    monkeypatch.setenv("TENNER_CACHE", str(tmp_path / "cache"))
    made, together = [], threading.Barrier(4)

    def make():
        made.append(1)
        (tmp_path / "large").write_bytes(bytes(10_000_000))
        return {"made": len(made)}

    def use(_):
        together.wait()
        return build._kept("test", {"a.py": b"x"}, make)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(use, range(4)))
    assert found == [{"made": 1}] * 4
