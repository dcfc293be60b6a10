# A task that has ended keeps nothing alive.
import asyncio
import gc
import sys
import unittest

from support import run
from tenner.store.modules import fleeting

_SIZE = 40000


async def _hold(buf):
    await asyncio.sleep(0)
    return len(buf)


class TestFleeting(unittest.TestCase):
    def test_an_ended_task_has_let_go_of_what_it_knew(self):
        async def ended():
            tasks = []
            for _ in range(4):
                tasks.append(asyncio.create_task(fleeting([lambda: _hold(bytearray(_SIZE))])))
                self.assertEqual(await tasks[-1], _SIZE)
            return tasks

        if sys.implementation.name == "micropython":
            gc.collect()
            before = gc.mem_alloc()
            tasks = run(ended())
            gc.collect()
            # One may be left on the stack.
            self.assertTrue(gc.mem_alloc() - before < 2 * _SIZE)
            self.assertEqual(len(tasks), 4)
        else:
            self.assertEqual(len(run(ended())), 4)

    def test_a_failure_and_a_cancellation_pass(self):
        async def fail():
            raise ValueError("no")

        async def wait():
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        async def main():
            try:
                await asyncio.create_task(fleeting([fail]))
            except ValueError as error:
                seen.append(str(error))
            task = asyncio.create_task(fleeting([wait]))
            await asyncio.sleep(0)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                seen.append("ended")

        seen = []
        run(main())
        self.assertEqual(seen, ["no", "cancelled", "ended"])


if __name__ == "__main__":
    unittest.main()
