# tenner boot.py: runs first on every boot and returns at once, so no board is bricked here.
# MIT license; Copyright (c) 2026 the tenner authors

import os

if "lib" in os.listdir("/") and "next" in os.listdir("/lib"):
    # A sync or an update has put the new code beside the old one, and then written this list.
    # However often the power fails, boot finishes the list before anything runs: no mix of old and
    # new code starts.
    with open("/lib/next") as lines:
        for line in lines:
            line = line.strip()
            try:
                if line[0] == "=":
                    trial = __import__("boot_trial")
                    if not trial.running(line[1:]):
                        trial.undo()
                        break
                elif line[0] == "-":
                    os.remove(line[1:])
                elif ">" in line:
                    __import__("boot_trial").swap(*line.split(">"))
                else:
                    os.rename(line + ".new", line)
            except OSError as error:
                if error.errno != 2:  # 2: done before the power failed
                    raise
    os.remove("/lib/next")
if "lib" in os.listdir("/") and "trial" in os.listdir("/lib"):
    __import__("boot_trial").begin()
