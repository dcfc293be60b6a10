# tenner main.py: starts the agent; Ctrl-C leads to the REPL.
# MIT license; Copyright (c) 2026 the tenner authors

import gc
import os

if hasattr(gc, "threshold"):
    # Collected only when the heap is full, what lives on lies scattered among garbage, and soon no
    # kilobyte in a row is left although half of the heap is free.
    gc.threshold(8192)

if "lib" in os.listdir() and "next" in os.listdir("lib"):
    raise OSError("new code is not all in place: run `tenner sync` again")

try:
    from tenner.app import main

    main(os.getcwd().rstrip("/"))
except KeyboardInterrupt:
    print("agent stopped; Ctrl-D starts it again")
