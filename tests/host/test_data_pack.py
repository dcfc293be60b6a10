"""The data files of the package in one: written by the build, read by the firmware's own
reader."""

import os
import sys

import pytest

from tenner_host import FIRMWARE, build, data_pack

sys.path.insert(0, str(FIRMWARE))

from tenner.port import package
from tenner.store import config, files
from tenner.tools import built_in
from tenner.tools.built_in import declared
from tenner.tools.loading import BUILT_IN, load


@pytest.fixture
def board(tmp_path, monkeypatch):
    """The files of a board, in place of those of the source."""
    build.write_tree(build.firmware_tree("VIRTUAL", mpy=False), tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "lib")])
    monkeypatch.setattr(package, "_pack", None)
    return tmp_path


#: Tables with rows from the folders of channels or features, and the names of those files.
JOINED = {"store/config.tsv": "settings.tsv", "channels/commands.tsv": "commands.tsv"}


def test_every_file_is_read_as_it_is_in_the_source(board):
    names = [name for name, _, _ in package.packed("")]
    assert {"store/config.tsv", "agent/person.md", "sensors/chips.tsv"} <= set(names)
    assert len(names) == len(set(names)) > 25
    for name in names:
        data = (FIRMWARE / "tenner" / name).read_bytes()
        if name.endswith(".json"):
            data = build.minify_json(data, name)
        if name in JOINED:
            for more in sorted((FIRMWARE / "tenner").rglob(JOINED[name])):
                if more != FIRMWARE / "tenner" / name:
                    data += more.read_bytes().partition(b"\n")[2]
        if name == "channels/commands.tsv":
            head, *rows = data.splitlines(True)
            data = head + b"".join(sorted(rows, key=lambda row: int(row.split(b"\t")[2])))
        if name == "store/config.tsv":
            data = data_pack.without_meanings(data)
        assert b"".join(files.blocks(*package.locate(name))) == data, name


def test_a_board_has_the_settings_without_what_they_mean(board, monkeypatch):
    monkeypatch.setattr(config, "_places", ())
    there, on_there = list(config.rows()), list(config.parts())
    monkeypatch.setattr(config, "_places", ())
    monkeypatch.setattr(sys, "path", [str(FIRMWARE)])
    monkeypatch.setattr(package, "_pack", None)
    here = list(config.rows())
    assert there == [(*row[:-1], "") for row in here]
    assert (
        on_there
        == list(config.parts())
        == [
            ("channels.mqtt", "mqtt.host"),
            ("channels.telegram", "telegram.token"),
            ("channels.webhook", "webhook.url"),
            ("page", "web.enabled"),
        ]
    )
    # The program was started in the folder of the source, so that its paths are relative.
    monkeypatch.chdir(FIRMWARE)
    monkeypatch.setattr(sys, "path", [""])
    monkeypatch.setattr(config, "_places", ())
    assert list(config.parts()) == on_there
    monkeypatch.setattr(config, "_places", ())


def test_a_file_that_is_not_there_is_an_error(board):
    with pytest.raises(OSError, match="missing: sync the board again"):
        package.locate("agent/none.md")


def test_a_board_knows_its_tools_as_the_source_does(board, monkeypatch):
    there = {name: (needs, turns) for name, _, needs, turns in built_in.tools()}
    monkeypatch.setattr(sys, "path", [str(FIRMWARE)])
    monkeypatch.setattr(package, "_pack", None)
    here = {name: (needs, turns) for name, _, needs, turns in built_in.tools()}
    del here["exec"]  # not for a chip
    assert there == here
    assert there["i2c"] == ("port:i2c", "")
    assert there["cron"] == ("", "person")


def test_what_is_read_from_the_text_is_what_the_module_says():
    for name in built_in.names():
        path = FIRMWARE / "tenner" / "tools" / f"{name}.py"
        module = load(None, BUILT_IN, name)
        said = [getattr(module, key, "") for key in data_pack.DECLARED]
        assert declared(str(path)) == said
        assert data_pack.declared(path.read_bytes()) == ";".join(said).rstrip(";")


def test_offsets_grow_with_the_index():
    for count in (1, 9, 10, 11, 99, 120):
        made = data_pack.pack({f"a/{n}.md": b"%d" % n * n for n in range(count)}, {})
        for line in made[: made.index(b"\n\n")].splitlines():
            name, start, size, _ = line.decode().split("\t")
            number = int(name[2:-3])
            assert made[int(start) : int(start) + int(size)] == b"%d" % number * number


def test_the_pack_saves_blocks():
    tree = build.firmware_tree("VIRTUAL")
    assert not [
        name for name in tree if name.endswith((".json", ".md", ".tsv")) and name.count("/") > 3
    ]
    assert len(tree["/lib/tenner/data.pack"]) < 8 * 4096
    assert os.path.basename(data_pack.NAME) == data_pack.NAME
