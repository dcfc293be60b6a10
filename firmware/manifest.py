# tenner manifest: the same package frozen into a custom MicroPython image.
# MIT license; Copyright (c) 2026 the tenner authors
#
#   make BOARD=ESP32_GENERIC_C3 FROZEN_MANIFEST=/abs/path/to/firmware/manifest.py
#
# Freezing takes only code: `tenner sync` still puts the package's data files (.json, .tsv, .md), boot.py
# and main.py on the board, and leaves out the modules that the image has already.

metadata(description="An AI agent that lives on a ten-dollar board.", version="0.1.0")

# -O3 drops line numbers, and then every traceback says line 1; -O2 keeps them.
include("$(PORT_DIR)/boards/manifest.py")
package("tenner", opt=2)
