# tenner overlay: gives the memory to one task at a time, and evicts code outside of its phase.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A board without PSRAM cannot hold all code at once. A task takes the memory ticket here, enters a
phase and leaves it again. A change of phase evicts the overlays that do not stay in the new one
(overlay_loader.py). On Linux, with PSRAM, and where code is executed in place, nothing is evicted.
"""

import asyncio
import gc
import sys

from tenner import overlay_loader
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

_IDLE = "IDLE"
_PHASE = const(48 * 1024)  # more than any phase needs beside the core

#: In a debug build each change of phase prints the memory.
_DEBUG = False
#: Is code in RAM? Not in an image, whose heap has no room to spare.
_IN_RAM = True


class OutOfMemory(Exception):
    """A step did not fit into memory, even after all other overlays were evicted."""


#: The lock of the task that may use more than the core; None where memory suffices for several
#: tasks.
_ticket = None
#: Called at the end of each phase, before its overlays are evicted.
_phase_over = None


def configure(
    small: bool, phase_over: "Callable[[], None] | None" = None, heap_bytes: int = 0
) -> None:
    """Prepare for a board that has memory for one task at a time, if `small`; `phase_over()` ends
    a phase. Overlays outlast their phase while enough of `heap_bytes` is free for any other."""
    global _ticket, _phase_over
    overlay_loader.keep(0 if _DEBUG else heap_bytes - _PHASE)
    _ticket = asyncio.Lock() if small else None
    _phase_over = phase_over


def is_free() -> bool:
    """Return whether `run` would start at once."""
    return _ticket is None or not _ticket.locked()


async def idle() -> None:
    """Wait until no task has the ticket or waits for it."""
    while not is_free():
        await _ticket.acquire()
        _ticket.release()
        await asyncio.sleep(0)  # a waiting task takes it now


async def run(name: str, work: "Callable[..., Coroutine]", *args: "Any") -> "Any":
    """Wait for the memory ticket and return `await work(*args)`, called in phase `name`."""
    if _ticket is None:
        return await step(name, work, *args)
    async with _ticket:
        return await step(name, work, *args)


def step(name: str, work: "Callable[..., Any]", *args: "Any") -> "Coroutine[Any, Any, Any]":
    """
    Await the result of `work(*args)`, called in phase `name`; a coroutine runs in a separate task,
    for the stack of that ends with it and keeps no code alive. The phase of the caller follows,
    so a result's class must be code that stays there. On MemoryError `work` must have changed
    nothing, since it is called once more; the second is OutOfMemory.
    """
    return _step(name, work, args, 2)


def once(name: str, work: "Callable[..., Any]", *args: "Any") -> "Coroutine[Any, Any, Any]":
    """As `step`, for work that a second call would not repeat: the caller gets its MemoryError."""
    return _step(name, work, args, 1)


async def _step(name, work, args, times):
    before = _IDLE if overlay_loader.phase is None else overlay_loader.phase
    try:
        while True:
            await _enter(name)
            try:
                made = _begin(work, args)
                # MicroPython has one type for coroutines and generators.
                if hasattr(made, "send") or isinstance(made, asyncio.Task):
                    made = await made
                return made
            except MemoryError as error:
                if times == 1:
                    raise
                overlay_loader.keep(0)
                if not times:
                    raise OutOfMemory(str(error))
                times = 0
    finally:
        made = None
        await _enter(before)


def start(work: "Coroutine") -> asyncio.Task:
    """
    Return a task of a coroutine that keeps neither its code nor its objects after its end.

    MicroPython's queue never clears its links: a task that waits for a stream keeps those that
    stood in the queue with it, ended ones too, and so their frames.
    """
    return asyncio.create_task(_call(work) if _IN_RAM else work)


def later(
    name: str,
    ready: "Callable[[], Coroutine] | None",
    work: "Callable[..., Coroutine]",
    *args: "Any",
) -> asyncio.Task:
    """
    Start a task that awaits `ready()`, unless that is None, and then runs `work(*args)` in phase
    `name`; it repeats both while `work` returns False. Return the task. While it waits it holds
    none of the work's code.
    """
    return asyncio.create_task(_later(name, ready, work, args))


async def _enter(name):
    """Switch the holder of the ticket to phase `name`, and evict the overlays that do not stay."""
    if _ticket is None:
        return
    if _phase_over:
        _phase_over()
    if overlay_loader.enter(name):
        # In a separate task with a short stack: one stale pointer would keep an overlay.
        await asyncio.create_task(_collect())
        if _DEBUG:
            import micropython

            held = " ".join(overlay_loader.held)
            print("entered", overlay_loader.phase_name(name), len(sys.modules), held)
            micropython.mem_info(1)
            print("looked")


async def stage(phases: "tuple[str, str] | None", number: int) -> None:
    """Enter the phase of this number among those of a request, unless they are None."""
    if phases:
        await _enter(phases[number])


class released:
    """`async with released(name):` releases the ticket meanwhile; the overlays of the holder that
    stay in phase `name` are kept for its return."""

    def __init__(self, name: str) -> None:
        self._name = name

    async def __aenter__(self) -> None:
        if _ticket is not None:
            self._before = overlay_loader.phase, list(overlay_loader.suspended)
            await _enter(self._name)
            overlay_loader.suspended[:] = overlay_loader.held
            await _enter(_IDLE)
            _ticket.release()

    async def __aexit__(self, *error: "Any") -> None:
        if _ticket is not None:
            await _ticket.acquire()
            name, suspended = self._before
            overlay_loader.suspended[:] = suspended
            await _enter(name)


async def _later(name, ready, work, args):
    while True:
        if ready is not None:
            await ready()
        if await run(name, work, *args) is not False:
            return


async def _call(work):
    try:
        return await work
    finally:
        # The frame of an ended task may stay for long.
        work = None


def _begin(work, args):
    if isinstance(work, tuple):
        # In a build, a function of another overlay: (overlay, name).
        work = getattr(getattr(overlay_loader.overlays, work[0]), work[1])
    made = work(*args)
    if _ticket is None or not hasattr(made, "send"):
        return made
    return asyncio.create_task(_call(made))


async def _collect():
    gc.collect()
