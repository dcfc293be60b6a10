"""The tasks of phases, on the loop of each interpreter."""

import asyncio
import gc
import unittest

from net_peer import Peer
from support import cancelled, run
from tenner import overlay

SIZE = 50000


async def work(how):
    kept = bytearray(SIZE)
    if how == "waits":
        await asyncio.sleep(10)
    kept[0] = 1


async def ended(start, how):
    """Start work with an object of SIZE bytes and wait for its end."""
    try:
        await asyncio.wait_for(start(work(how)), 0.01)
    except asyncio.TimeoutError:
        pass


@unittest.skipUnless(hasattr(gc, "mem_alloc"), "CPython counts references")
class TestAnEndedTask(unittest.TestCase):
    def kept_bytes(self, start, how):
        """Return the bytes that stay while a task waits for a stream: it left the queue first."""

        async def wait(stream):
            await stream.read(1)

        async def main():
            peer = await Peer().start()
            stream, _ = await asyncio.open_connection("127.0.0.1", peer.port)
            gc.collect()
            before = gc.mem_alloc()
            waiting = asyncio.create_task(wait(stream))
            await asyncio.create_task(ended(start, how))
            gc.collect()
            kept = gc.mem_alloc() - before
            await cancelled(waiting)
            stream.close()
            await stream.wait_closed()
            await peer.stop()
            return kept

        return run(main())

    def test_keeps_nothing_of_its_work(self):
        for how in ("ends", "waits"):
            kept = self.kept_bytes(overlay.start, how)
            self.assertTrue(kept < SIZE // 2, (how, kept))


if __name__ == "__main__":
    unittest.main()
