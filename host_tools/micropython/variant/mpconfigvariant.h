// The Unix port as its standard variant, with a ROMFS partition out of a file and, on request, counters.
#define MICROPY_CONFIG_ROM_LEVEL (MICROPY_CONFIG_ROM_LEVEL_EXTRA_FEATURES)

#include "variants/mpconfigvariant_common.h"

// rom_segment.c has the partition; it is mounted at /rom at the start, as on a chip.
#undef MICROPY_VFS_ROM_IOCTL
#define MICROPY_VFS_ROM_IOCTL (1)

#include "counters.h"
