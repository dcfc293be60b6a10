"""What goes onto a board, and that building it twice is safe and cheap."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from host_tools import build


@pytest.fixture
def firmware(tmp_path):
    """A small firmware folder."""
    build.write_tree(
        {
            "/boot.py": b"# boot\n",
            "/main.py": b"import tenner.app\n",
            "/manifest.py": b"",
            "/tenner/__init__.py": b'__version__ = "1"\n',
            "/tenner/store/__init__.py": b"# tenner store: files.\n",
            "/tenner/app.py": b"def f():\n    assert False\n    raise ValueError(1)\n",
            "/tenner/tools/t.json": b'{\n  "name": "t\xc3\xa9"\n}\n',
            "/tenner/store/config.tsv": b"a\tb\n",
            "/tenner/agent/person.md": b"You are",
            "/tenner/__pycache__/app.pyc": b"junk",
            "/tenner/notes.txt": b"not for the board",
            "/workspace/SOUL.md": b"soul",
            "/workspace/memory/.gitkeep": b"",
        },
        tmp_path,
    )
    return tmp_path


def test_the_tree_of_a_board(firmware):
    tree = build.firmware_tree("VIRTUAL", firmware=firmware)
    assert list(tree) == [
        "/boot.py",
        "/lib/tenner/__init__.mpy",
        "/lib/tenner/agent/person.md",
        "/lib/tenner/app.mpy",
        "/lib/tenner/pins.csv",
        "/lib/tenner/store/config.tsv",
        "/lib/tenner/tools/t.json",
        "/main.py",
        "/workspace/SOUL.md",
    ]
    assert tree["/main.py"] == b"import tenner.app\n"
    assert tree["/lib/tenner/app.mpy"][:2] == b"M\x06"
    assert tree["/lib/tenner/tools/t.json"] == '{"name":"té"}'.encode()
    assert b"I2C0_SCL,GPIO" in tree["/lib/tenner/pins.csv"]


def test_sources_stay_sources_without_mpy(firmware):
    tree = build.firmware_tree("VIRTUAL", mpy=False, workspace=False, firmware=firmware)
    assert tree["/lib/tenner/app.py"].startswith(b"def f()")
    assert not [name for name in tree if name.endswith(".mpy") or name.startswith("/workspace")]


def test_tracebacks_name_the_module(firmware):
    spawn = b"def spawn(): pass\n"
    build.write_tree({f"/tenner/{name}/spawn.py": spawn for name in ("agent", "tools")}, firmware)
    tree = build.firmware_tree(firmware=firmware)
    # Twice the length, the name, a zero: the first entry of a module's names.
    assert b"\x06app\0" in tree["/lib/tenner/app.mpy"]
    assert b"\x0ctenner\0" in tree["/lib/tenner/__init__.mpy"]
    assert b"\x24tenner.tools.spawn\0" in tree["/lib/tenner/tools/spawn.mpy"]


def test_an_empty_package_is_only_a_folder(firmware):
    assert "/lib/tenner/store/__init__.mpy" not in build.firmware_tree(firmware=firmware)
    assert "/lib/tenner/store/__init__.py" in build.firmware_tree(mpy=False, firmware=firmware)


def test_the_real_firmware_builds():
    tree = build.firmware_tree("VIRTUAL")
    assert "/lib/tenner/port/esp32.mpy" in tree
    for name, data in tree.items():
        if name.endswith(".json"):
            assert json.loads(data) is not None


def test_a_chip_gets_no_commands_and_linux_does():
    assert not [
        name for name in build.firmware_tree("VIRTUAL") if "exec" in name or "cage" in name
    ]
    assert "/lib/tenner/tools/exec.json" not in build.firmware_tree("VIRTUAL", mpy=False)
    assert {"tenner/tools/exec.json", "tenner/port/linux_cage.mpy"} <= set(
        build.linux_tree(mpy=True)
    )


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
