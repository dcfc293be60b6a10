// The ROMFS partition: the file $TENNER_ROMFS, mapped, so that its code runs in place and takes no heap.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "extmod/vfs.h"
#include "py/mperrno.h"
#include "py/objarray.h"

static mp_obj_t open_segment(void) {
    const char *path = getenv("TENNER_ROMFS");
    int file = path ? open(path, O_RDONLY) : -1;
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        return MP_OBJ_NEW_SMALL_INT(-MP_EINVAL);
    }
    void *data = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (data == MAP_FAILED) {
        return MP_OBJ_NEW_SMALL_INT(-MP_EINVAL);
    }
    return mp_obj_new_memoryview('B', status.st_size, data);
}

mp_obj_t mp_vfs_rom_ioctl(size_t n_args, const mp_obj_t *args) {
    switch (mp_obj_get_int(args[0])) {
        case MP_VFS_ROM_IOCTL_GET_NUMBER_OF_SEGMENTS:
            return MP_OBJ_NEW_SMALL_INT(getenv("TENNER_ROMFS") != NULL);
        case MP_VFS_ROM_IOCTL_GET_SEGMENT:
            return open_segment();
        default:
            return MP_OBJ_NEW_SMALL_INT(-MP_EINVAL);
    }
}
