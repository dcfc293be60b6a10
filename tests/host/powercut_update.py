# tenner tests: a board whose power may fail anywhere in an update; run by test_update_powercut.
# MIT license; Copyright (c) 2026 the tenner authors
"""
    micropython powercut_update.py COMMAND

    make IMAGE FOLDER            a board with the old code
    cut IMAGE FOLDER pass torn   its update; a cut at flash operation N leaves IMAGE.N
    after IMAGE.N FOLDER         the boots after that, and their outcome
    wear FOLDER                  the blocks erased and bytes written by a second update

FOLDER has the release, the key, and boot.py and boot_trial.py for a flash at /cut. `fail` in place
of `pass`: the new version does not pass its trial.
"""

import asyncio
import builtins
import gc
import os
import sys

from ram_flash import ERASED, RamFlash
from vfs import VfsLfs2, mount, umount

from tenner import log
from tenner.store import files
from tenner.update.staging import Staging

gc.disable()
log.write = lambda line: None
say = print

ROOT = "/cut"
BLOCKS = 40
MANY_BLOCKS = 256
LIB = ROOT + "/lib"
HOME = LIB + "/tenner"
OWN = {"/config.json": '{"name": "cut"}', "/workspace/HEARTBEAT.md": "# Heartbeat\n- Look.\n"}
OLD = {"app.mpy": b"old" * 2000, "gone.mpy": b"x", "pins.csv": b"A0,GPIO0\n"}


class Machine:
    """Stands for the chip's module: Unix MicroPython has no watchdog."""

    class WDT:
        def __init__(self, timeout):
            self.timeout = timeout


sys.modules["machine"] = Machine


def read(path):
    with open(path, "rb") as file:
        return file.read()


def tree(top):
    """The files of a folder by their path in it; {} without it."""
    found = {}
    for name, kind, *_ in os.ilistdir(top) if files.is_folder(top) else ():
        if kind == 0x4000:
            for inner, data in tree(top + "/" + name).items():
                found[name + "/" + inner] = data
        else:
            found[name] = read(top + "/" + name)
    return found


def new_tree(release):
    """The new code as it must be on the board."""
    end = release.find(b"\n", release.find(b"\nsignature ") + 1) + 1
    found = {"manifest": release[:end], "pins.csv": OLD["pins.csv"]}
    for line in release[:end].decode().split("\n"):
        if line.startswith("file "):
            _, size, _, path = line.split()
            # The others are for boards with the page.
            if not path.startswith("page/"):
                found[path] = release[end : end + int(size)]
            end += int(size)
    return found


def boot(folder):
    """Run boot.py as the chip does; its modules are new in each boot."""
    sys.modules.pop("boot_trial", None)
    exec(read(folder + "/boot.py").decode(), {})


def update(release):
    """Receive the release, go on where an earlier try has ended, and switch."""
    place = [0]

    async def readinto(view):
        part = release[place[0] : place[0] + len(view)]
        view[: len(part)] = part
        place[0] += len(part)
        gc.collect()
        return len(part)

    async def run():
        staging = Staging(ROOT)
        data = new_tree(release)["manifest"]
        staging.resume(data)
        place[0] = len(data) + staging.present()
        await staging.receive(readinto, 0)
        await staging.verify()
        staging.switch()

    asyncio.run(run())


def end_trial(passed):
    """As tenner.update.trial and report do."""
    print("a line of the log")
    gc.collect()
    if passed:
        os.rename(LIB + "/trial", LIB + "/passed")
        files.remove(LIB + "/trial.log")
        Staging(ROOT).discard()
        files.remove(LIB + "/passed")


def after_failure():
    for name in ("failed", "trial.log"):
        files.remove(LIB + "/" + name)
    Staging(ROOT).discard()


def keep(path, image):
    with open(path, "wb") as file:
        file.write(image)


def make(path, folder):
    image = bytearray(ERASED * BLOCKS)
    fill(RamFlash(image), folder)
    umount(ROOT)
    keep(path, image)
    return "made"


def fill(chip, folder):
    """Mount a board with the old code."""
    VfsLfs2.mkfs(chip)
    mount(VfsLfs2(chip, mtime=False), ROOT)
    for name in ("/workspace", "/lib", "/lib/tenner"):
        os.mkdir(ROOT + name)
    for name, text in OWN.items():
        files.write_atomic(ROOT + name, text)
    for name, data in OLD.items():
        files.write_atomic(HOME + "/" + name, data)
    files.write_atomic(LIB + "/release.keys", read(folder + "/keys"))


def cut(path, folder, outcome, torn):
    image = bytearray(read(path))
    chip = RamFlash(image, bool(torn), lambda number: keep("%s.%d" % (path, number), image))
    mount(VfsLfs2(chip, mtime=False), ROOT)
    release = read(folder + "/release")
    update(release)
    boot(folder)
    assert tree(HOME) == new_tree(release)
    end_trial(outcome == "pass")
    if outcome == "fail":
        boot(folder)
        builtins.print = say
        assert tree(HOME) == OLD
        after_failure()
    builtins.print = say
    return "%d" % chip.operations


def after(path, folder):
    image = bytearray(read(path))
    mount(VfsLfs2(RamFlash(image), mtime=False), ROOT)
    release = read(folder + "/release")
    new = new_tree(release)
    boot(folder)
    builtins.print = say
    problem = judge(new)
    if problem:
        return problem
    if files.exists(LIB + "/trial"):
        if tree(HOME) != new:
            return "the old code is in trial"
        # It does not pass: the next boot has the old code, and knows why.
        boot(folder)
        if tree(HOME) != OLD or not files.exists(LIB + "/failed"):
            return "the trial was not undone"
    outcome = "old" if tree(HOME) == OLD else "new"
    if outcome == "old":
        # The next update goes through.
        if files.exists(LIB + "/failed"):
            after_failure()
        update(release)
        boot(folder)
        builtins.print = say
        if tree(HOME) != new:
            return "the next update was not installed"
    return judge(new) or outcome


def wear(folder):
    chip = RamFlash(bytearray(ERASED * MANY_BLOCKS))
    fill(chip, folder)
    for name in ("/release", "/next_release"):
        before = chip.erased, chip.written
        update(read(folder + name))
        boot(folder)
        end_trial(True)
        builtins.print = say
        assert tree(HOME) == new_tree(read(folder + name))
    return "%d %d" % (chip.erased - before[0], chip.written - before[1])


def judge(new):
    """None, or which promise is broken."""
    if tree(HOME) not in (OLD, new):
        return "a mix of old and new code: %s" % sorted(tree(HOME))
    if files.exists(LIB + "/next"):
        return "the list is not done"
    for name, text in OWN.items():
        if read(ROOT + name) != text.encode():
            return name + " has changed"
    return None


if __name__ == "__main__":
    say({"make": make, "cut": cut, "after": after, "wear": wear}[sys.argv[1]](*sys.argv[2:]))
