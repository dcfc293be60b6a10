# tenner chip_heap: prepares the heap of an ESP32, which shares its memory with Wi-Fi and TLS.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Without PSRAM Python's heap begins with 36 to 64 KB. A full heap takes as much again, or the
largest free block, of the memory that ESP-IDF gives to Wi-Fi and TLS. It returns that block only
when it is empty. No setting limits that: `gc_try_add_heap` (py/gc.c, the same from 1.21 to 1.29)
asks for nothing but the largest free block. So `begin` makes the heap grow before main.py loads
anything else. Meanwhile the stack of a thread fills all of that block but the heap's part: Python
can hold no other memory of that size for a moment. The build leaves this module out of the
overlays, as main.py imports it first of all.

littlefs keeps its caches in the heap, one for each open file among them: of 128 bytes by default,
which the flash driver reads in about the same time as 256, and to open a file takes kilobytes.
"""

import gc
import os
import time

import esp32
import machine
import network

try:
    # Not by way of port.compat, which is part of the core.
    from micropython import const
except ImportError:
    from tenner.port.cpython import const

_PSRAM_HEAP = const(1000000)  # no ESP32 without PSRAM has a heap of this size
_WIFI = const(45 * 1024)  # for Wi-Fi with its driver
_WIFI_CONNECTS = const(10 * 1024)  # once the driver is loaded
_SPARE = const(8 * 1024)  # for a busy network
_TLS = const(36 * 1024)  # the handshake with the smallest chains
_TURN = const(90 * 1024)  # of Python's heap: less is no agent
_WORTH = const(8 * 1024)  # growing by less is no help
_READ = const(64)  # bytes; the cache has four times as many
_LOOKAHEAD = const(64)  # bytes, one bit for each block of 2 MB
_GAP = const(24 * 1024)
_CELLS = const(120)  # of a list of half a kilobyte
#: In the root folder: the bytes of each host.
_NEEDS = const("state/tls")
#: "on BYTES", the gain of the last try; another word ends the tries (see power.free_bluetooth).
_BLUETOOTH = const("state/bluetooth")
_END_MS = const(100)
_STEP_MS = const(5)

#: The bytes that one TLS session takes at the height of its handshake, by the hosts that were seen
#: before (net.tls_reserve); at first by the longest usual chain of certificates.
tls_bytes = 46400
#: Does Python's heap grow into ESP-IDF's memory, which `gc.mem_free()` counts then?
is_shared = False
#: Keeps the area that the heap has grown by.
area = None


def figures() -> tuple[int, int, int]:
    """Return (free, largest free block, least ever free) of ESP-IDF's memory, in bytes."""
    free = largest = least = 0
    for _, size, block, fewest in esp32.idf_heap_info(esp32.HEAP_DATA):
        free += size
        largest = max(largest, block)
        least += fewest
    return free, largest, least


def heap_bytes() -> int:
    """Return the size of Python's heap."""
    return gc.mem_free() + gc.mem_alloc() - (figures()[1] if is_shared else 0)


def begin() -> None:
    """Let the heap of a board without PSRAM grow and forget how: main.py calls it once, before the
    agent is loaded."""
    global tls_bytes
    _widen_cache()
    tls_bytes = _tls_bytes() or tls_bytes
    if gc.mem_free() + gc.mem_alloc() < _PSRAM_HEAP:
        _free_bluetooth()
        _grow(_wifi_bytes())
    own = globals()
    for name in (
        "_widen_cache", "_free_bluetooth", "_note", "_grow", "_wifi_bytes", "_tls_bytes", "_hold",
        "_end", "begin",
    ):  # fmt: skip
        own[name] = None  # `del` alone leaves the function in the table
        del own[name]
    gc.collect()


def _widen_cache():
    try:
        from flashbdev import bdev

        wide = os.VfsLfs2(bdev, readsize=_READ, lookahead=_LOOKAHEAD)
    except (ImportError, OSError):
        return  # another file system
    os.umount("/")
    os.mount(wide, "/")


def _free_bluetooth():
    """Start and end Bluetooth, if the owner wants that: ESP-IDF takes the memory of its Classic
    part back then, about 15 KB on an ESP32."""
    try:
        with open(_BLUETOOTH) as file:
            if file.read(2) != "on":
                return
        # A start that crashes here is the last one to try it.
        _note("crashed")
        free = figures()[0]
        try:
            from bluetooth import BLE

            BLE().active(True)
            BLE().active(False)
        except ImportError:
            pass
        gained = figures()[0] - free
        _note("%s %d" % ("on" if gained >= _WORTH else "useless", gained))
    except OSError:
        pass


def _note(text):
    with open(_BLUETOOTH, "w") as file:
        file.write(text)


def _wifi_bytes():
    """Return how much memory Wi-Fi takes yet. After a soft reset its driver is loaded; else to ask
    it would load it."""
    if machine.reset_cause() != machine.SOFT_RESET:
        return _WIFI
    return 0 if network.WLAN(0).isconnected() else _WIFI_CONNECTS


def _tls_bytes():
    """Return the largest number of the lines `HOST BYTES`, 0 without the file."""
    try:
        with open(_NEEDS) as lines:
            return max([0] + [int(line.split()[1]) for line in lines])
    except (OSError, ValueError, IndexError):
        return 0


def _grow(wifi):
    """Let Python's heap grow, and leave `wifi` bytes and those of TLS."""
    global is_shared, area
    free, largest, _ = figures()
    counted = gc.mem_free()
    size = counted + gc.mem_alloc() - largest
    rest = free - wifi - _SPARE
    wanted = min(size, max(rest - tls_bytes, min(rest - _TLS, _TURN - size)))
    gap = None
    # Too large for any other block: this stack shows whether both share one memory.
    held = free - largest + 8
    if _WORTH <= wanted < size:
        # Else the heap doubles, which is about right, or stays.
        # Keep a smaller block free: ESP-IDF reports the least memory ever free, and a low figure
        # alarms its reader.
        gap = _hold(_GAP)
        held = figures()[1] - wanted
    stack = _hold(max(held, _WORTH))
    _end(gap)
    gc.collect()
    is_shared = figures()[0] < free - _WORTH // 2 and gc.mem_free() < counted
    if is_shared and wanted >= _WORTH:
        kept = []
        while heap_bytes() < size + _WORTH // 2:
            kept.append([None] * _CELLS)
        area = kept.pop()
    _end(stack)


def _hold(size):
    """Start a thread with a stack of so many bytes; return the lock that it waits for, None if the
    stack did not fit."""
    import _thread

    lock = _thread.allocate_lock()
    lock.acquire()
    _thread.stack_size(size)
    try:
        _thread.start_new_thread(lock.acquire, ())
    except OSError:
        return None
    finally:
        _thread.stack_size(0)
    return lock


def _end(lock):
    """Let the thread end, and wait until the idle task has freed its stack."""
    if lock:
        free = figures()[0]
        lock.release()
        for _ in range(_END_MS // _STEP_MS):
            if figures()[0] >= free + _WORTH // 2:
                break
            time.sleep(_STEP_MS / 1000)
