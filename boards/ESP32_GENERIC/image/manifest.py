# The frozen modules of the image: those of MicroPython's own, and the agent.
include("$(PORT_DIR)/boards/manifest.py")
include("../../../firmware/manifest.py")
