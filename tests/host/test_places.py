"""Several processes use one cache: `make test` runs its tests side by side, and `.ci/run` its
targets."""

import fcntl
import subprocess
import sys
import threading

import pytest

from tenner_host import debian, places

WRITER = """
import sys
from pathlib import Path
from tenner_host.places import write_whole
print("ready", flush=True)
while True:
    for letter in b"ab":
        write_whole(Path(sys.argv[1]), bytes([letter]) * 1000000)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TENNER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_one_process_at_a_time_has_a_name(cache):
    with places.one_at_a_time("thing"), places.one_at_a_time("other thing"):
        with (cache / ".thing.lock").open() as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with (cache / ".thing.lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_name_may_have_folders(cache, monkeypatch):
    monkeypatch.setattr(debian, "check_tools", lambda: None)
    made = debian.filled("kernel/userland", lambda stage: stage.mkdir())
    assert made == cache / "kernel/userland" and made.is_dir()


def test_a_folder_of_packages_is_filled_once(cache, monkeypatch):
    monkeypatch.setattr(debian, "check_tools", lambda: None)
    filled, together = [], threading.Barrier(5)

    def fill(stage):
        filled.append(stage)
        stage.mkdir()
        for number in range(200):
            (stage / str(number)).write_text("")

    def use():
        together.wait()
        assert len(list(debian.filled("packages", fill).iterdir())) == 200

    users = [threading.Thread(target=use) for _ in range(4)]
    for one in users:
        one.start()
    together.wait()
    for one in users:
        one.join()
    assert len(filled) == 1
    assert [path.name for path in cache.iterdir() if not path.name.endswith(".lock")] == [
        "packages"
    ]


def test_a_reader_sees_whole_files_only(tmp_path):
    path = tmp_path / "new" / "file"
    places.write_whole(path, b"a" * 1000000)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
    try:
        assert writer.stdout.readline() == b"ready\n"
        seen = set()
        while len(seen) < 2:
            for _ in range(50):
                data = path.read_bytes()
                assert data in (b"a" * 1000000, b"b" * 1000000)
                seen.add(data[:1])
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()
