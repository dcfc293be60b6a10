# What Debian's build of the Unix port has frozen.
include("$(MPY_DIR)/extmod/asyncio")
require("mip")
