# tenner manifest: the agent frozen into a custom MicroPython image.
# MIT license; Copyright (c) 2026 the tenner authors
#
# First `python -m tenner_host.image BOARD`, which makes the overlays; boards/<BOARD>/image/ has
# the rest. Freezing takes only code: the package's data files are in the image's ROMFS partition.

metadata(description="An AI agent that lives on a ten-dollar board.")

# -O3 drops line numbers, and then every traceback says line 1; -O2 keeps them.
freeze("../build/image/frozen", opt=2)
