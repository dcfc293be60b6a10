# The frozen modules of Debian's build of the Unix port.
include("$(MPY_DIR)/extmod/asyncio")
require("mip")
