# tenner main.py: starts the agent; Ctrl-C leads to the REPL.
# MIT license; Copyright (c) 2026 the tenner authors

import gc
import os
import sys

if hasattr(gc, "threshold"):
    # Else garbage scatters live objects over a full heap: no kilobyte in a row is left.
    gc.threshold(8192 if gc.mem_free() > 65536 else 1536)

if "lib" in os.listdir() and "next" in os.listdir("lib"):
    raise OSError("new code is not all in place: run `tenner sync` again")
if "rom" in os.listdir():
    # Code in /lib is newer than that of the image, which MicroPython puts first.
    sys.path[2:] = ["/lib", ".frozen/agent", "/rom", "/rom/lib"]
try:
    if sys.platform == "esp32":
        from tenner import chip_heap

        chip_heap.begin()  # first of all, for the agent's code would make the heap grow
    from tenner.app import main

    main(os.getcwd().rstrip("/"))
except KeyboardInterrupt:
    print("agent stopped; Ctrl-D starts it again")
except Exception as error:
    if "boot_trial" in sys.modules:  # the trial of an update
        sys.modules["boot_trial"].failed(error)
    raise
