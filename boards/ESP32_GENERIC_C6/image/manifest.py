# What the image has frozen: what MicroPython's own has, and the agent.
include("$(PORT_DIR)/boards/manifest.py")
include("../../../firmware/manifest.py")
