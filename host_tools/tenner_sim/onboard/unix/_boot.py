# virtual board: turns Unix MicroPython into the board, then runs boot.py and main.py.
# MIT license; Copyright (c) 2026 the tenner authors

import gc
import os
import sys
import termios

import _board
import vfs
from _flash import FlashRegion

# In-band marks round a binary stretch of output; tenner_sim/vboard/console.py takes them out.
_BINARY_ON = b"\x1b]vb-\x07"
_BINARY_OFF = b"\x1b]vb+\x07"


def _override(module):
    """Let the program import an object with the same attributes in place of a built-in module;
    return it."""

    class _Module:
        pass

    made = _Module()
    for name in dir(module):
        if not name.startswith("__"):
            setattr(made, name, getattr(module, name))
    made.__name__ = module.__name__
    sys.modules[module.__name__] = made
    return made


def _override_gc():
    """The heap of the emulation is no part of the board's."""
    used, emulation = gc.mem_alloc, int(os.getenv("TENNER_VBOARD_HEAP"))
    _override(gc).mem_alloc = lambda: used() - emulation


def _override_micropython():
    """
    `mpremote mount` talks binary over the REPL and switches Ctrl-C off meanwhile. The terminal has
    to be told, and the supervisor has to leave line ends and Ctrl-C alone.
    """
    import micropython

    module = _override(micropython)
    cooked = termios.tcgetattr(0)
    raw = termios.tcgetattr(0)
    raw[1] = 0
    raw[3] = 0
    out = sys.stdout.buffer

    def kbd_intr(character):
        if character < 0:
            termios.tcsetattr(0, termios.TCSANOW, raw)
            out.write(_BINARY_ON)
        else:
            out.write(_BINARY_OFF)
            termios.tcsetattr(0, termios.TCSANOW, cooked)

    module.kbd_intr = kbd_intr


def _preload():
    """Import while the host's files can still be seen: after the mount there is only the flash."""
    for name in (
        "time",
        "socket",
        "select",
        "machine",
        "network",
        "esp32",
        "ntptime",
        "onewire",
        "dht",
    ):
        __import__(name)


def _widen_names():
    """
    Names are kept in tables, each twice as long as the one before. Those of the overlay, which a
    chip has in its ROM, must not be why the firmware needs the next one, of 9 KB in one piece: it
    is made here. 32-bit only, where the heap is that of a chip.
    """
    if sys.maxsize > 1 << 32:
        return
    number = 0
    used = gc.mem_alloc()
    while gc.mem_alloc() - used < 8000:
        used = gc.mem_alloc()
        for _ in range(32):
            number += 1
            hasattr(gc, "%x" % number)


def _mount_romfs():
    """Mount the ROMFS partition of the board's image; an interpreter of ours has done that
    already."""
    path = os.getenv("TENNER_ROMFS")
    if path and not hasattr(vfs, "rom_ioctl"):
        with open(path, "rb") as file:
            vfs.mount(vfs.VfsRom(file.read()), "/rom")


def _mount():
    image = open(_board.flash_fd, "r+b")
    counters = open(_board.counters_fd, "r+b")

    def power_lost(lost=_board.lost):
        lost("powerlost")

    region = FlashRegion(image, _board.vfs_offset, _board.vfs_size, counters, power_lost)
    # The ESP32 port has the device there, frozen.
    sys.modules["flashbdev"] = type("flashbdev", (), {"bdev": region})
    vfs.umount("/")
    try:
        vfs.mount(vfs.VfsLfs2(region), "/")
    except OSError:
        # As the ESP32 port does: it makes a file system of nothing, and touches nothing else.
        first = bytearray(region.BLOCK)
        region.readblocks(0, first)
        if first.count(b"\xff") < len(first):
            return False
        vfs.VfsLfs2.mkfs(region)
        vfs.mount(vfs.VfsLfs2(region), "/")
        with open("/boot.py", "w") as file:
            file.write(
                "# This file is executed on every boot (including wake-boot from deepsleep)\n"
            )
    return True


def _complain():
    """Complain, as the port does about a file system that it cannot mount, until Ctrl-C leads to
    the prompt."""
    import time

    try:
        while True:
            print("The filesystem starting at 0x%x looks corrupt." % _board.vfs_offset)
            time.sleep(3)
    except KeyboardInterrupt:
        pass


def _run(path, names):
    try:
        os.stat(path)
    except OSError:
        return
    try:
        execfile(path, names)
    except SystemExit:
        _board.lost("softreset")
    except BaseException as exc:
        sys.print_exception(exc)


def start(names):
    """Boot; `names` are the globals of `__main__`."""
    _override_gc()
    _override_micropython()
    _preload()
    _mount_romfs()
    mounted = _mount()
    # py/runtime.c mounts the partition, before ports/esp32/main.c adds /lib.
    rom = ["/rom", "/rom/lib"] if "rom" in os.listdir("/") else []
    sys.path[:] = ["", ".frozen"] + rom + ["/lib"]
    sys.argv[:] = []
    for name in ("_boot", "_flash", "_board", "_buses", "_pins"):
        del sys.modules[name]
    names.pop("_boot", None)
    gc.collect()
    _widen_names()
    gc.collect()
    # From here on, an exception leads to the prompt.
    os.putenv("MICROPYINSPECT", "1")
    try:
        _board.tell("up %d %d" % (gc.mem_free(), gc.mem_alloc()))
    except MemoryError:
        os.unsetenv("MICROPYINSPECT")
        raise
    if not mounted:
        _complain()
    _run("boot.py", names)
    # Ctrl-D in the raw REPL, which is how tools reset softly, does not start the application.
    if _board.start_mode != "raw":
        _run("main.py", names)
