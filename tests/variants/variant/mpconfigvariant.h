// The Unix port as its standard variant, with a ROMFS partition out of a file and, on request, counters.
#define MICROPY_CONFIG_ROM_LEVEL (MICROPY_CONFIG_ROM_LEVEL_EXTRA_FEATURES)

#include "variants/mpconfigvariant_common.h"

// rom_segment.c has the partition; it is mounted at /rom at the start, as on a chip.
#undef MICROPY_VFS_ROM_IOCTL
#define MICROPY_VFS_ROM_IOCTL (1)

#include "counters.h"

#ifdef TENNER_CHIP_POOL
// As on an ESP32: chip_pool.c has the memory that Python's heap grows into.
#define MICROPY_GC_SPLIT_HEAP (1)
#define MICROPY_GC_SPLIT_HEAP_AUTO (1)
#include <stddef.h>
void *tenner_pool_alloc(size_t size);
void tenner_pool_free(void *address);
#define MP_PLAT_ALLOC_HEAP(size) tenner_pool_alloc(size)
#define MP_PLAT_FREE_HEAP(address) tenner_pool_free(address)
#endif
