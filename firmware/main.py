# tenner main.py: starts the agent; Ctrl-C leads to the REPL.
# MIT license; Copyright (c) 2026 the tenner authors

import gc
import os
import sys

if hasattr(gc, "threshold"):
    # Without a threshold the collector waits for a full heap. Live objects then lie scattered
    # among garbage, and soon no kilobyte in a row is left although half of the heap is free.
    gc.threshold(8192)

files = os.listdir()
if "lib" in files and "next" in os.listdir("lib"):
    raise OSError("new code is not all in place: run `tenner sync` again")
if "rom" in files:
    # Code frozen into an image comes after that in /lib, which is newer, and before the image's
    # data.
    sys.path.insert(3, ".frozen/agent")

try:
    if sys.platform == "esp32":
        from tenner.port import chip_heap

        chip_heap.begin()  # first of all, for the agent's code would make the heap grow
    from tenner.app import main

    main(os.getcwd().rstrip("/"))
except KeyboardInterrupt:
    print("agent stopped; Ctrl-D starts it again")
