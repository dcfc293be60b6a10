// An ESP32's second heap, in the build of kind `chip`: Wi-Fi and TLS live on it, and Python's heap grows into it.
//
// The module `esp32` reports it as on a chip. It also replaces C code of a chip: `take(size)` returns the address of a
// block, or 0, `give(address)` frees it, and `session(stream, sizes)` is `stream` while it holds blocks of these sizes,
// which close() frees; OSError 12 (ENOMEM) if one of them cannot be had. `shake(size, piece)` takes so many bytes for a
// moment, in pieces, and returns whether it could.
#ifdef TENNER_CHIP_POOL

#include <stdlib.h>
#include <string.h>

#include "py/gc.h"
#include "py/mperrno.h"
#include "py/objlist.h"
#include "py/objtuple.h"
#include "py/runtime.h"
#include "py/stream.h"

#define MOST_REGIONS (6)
#define STEP (8)

typedef struct block {
    size_t size; // bytes behind this header
    size_t used;
} block_t;

typedef struct {
    char *start;
    size_t size;
    size_t least;
} region_t;

static region_t regions[MOST_REGIONS];
static size_t count;

// $TENNER_CHIP_POOL: the sizes of its regions, in the order in which they are tried: "14000 11000 112000".
static void begin(void) {
    const char *sizes = getenv("TENNER_CHIP_POOL");
    while (count < MOST_REGIONS && sizes && *sizes) {
        size_t size = strtoul(sizes, (char **)&sizes, 10) / STEP * STEP;
        if (size <= sizeof(block_t)) {
            break;
        }
        region_t *region = &regions[count++];
        region->start = malloc(size);
        region->size = size;
        block_t *block = (block_t *)region->start;
        block->size = size - sizeof(block_t);
        block->used = 0;
        region->least = block->size;
    }
}

#define FIRST(region) ((block_t *)(region)->start)
#define NEXT(block) ((block_t *)((char *)((block) + 1) + (block)->size))
#define IS_IN(region, block) ((char *)(block) < (region)->start + (region)->size)

static void figures(region_t *region, size_t *free, size_t *largest) {
    *free = *largest = 0;
    for (block_t *block = FIRST(region); IS_IN(region, block); block = NEXT(block)) {
        if (!block->used) {
            *free += block->size;
            *largest = MAX(*largest, block->size);
        }
    }
}

void *tenner_pool_alloc(size_t size) {
    if (!count) {
        begin();
    }
    size = (size + STEP - 1) / STEP * STEP;
    for (region_t *region = regions; region < regions + count; ++region) {
        for (block_t *block = FIRST(region); IS_IN(region, block); block = NEXT(block)) {
            if (block->used || block->size < size) {
                continue;
            }
            if (block->size >= size + sizeof(block_t) + STEP) {
                size_t rest = block->size - size - sizeof(block_t);
                block->size = size;
                NEXT(block)->size = rest;
                NEXT(block)->used = 0;
            }
            block->used = 1;
            size_t free, largest;
            figures(region, &free, &largest);
            region->least = MIN(region->least, free);
            return block + 1;
        }
    }
    return NULL;
}

void tenner_pool_free(void *address) {
    ((block_t *)address - 1)->used = 0;
    for (region_t *region = regions; region < regions + count; ++region) {
        for (block_t *block = FIRST(region); IS_IN(region, block); block = NEXT(block)) {
            while (!block->used && IS_IN(region, NEXT(block)) && !NEXT(block)->used) {
                block->size += sizeof(block_t) + NEXT(block)->size;
            }
        }
    }
}

size_t gc_get_max_new_split(void) {
    size_t most = 0, free, largest;
    if (!count) {
        begin();
    }
    for (region_t *region = regions; region < regions + count; ++region) {
        figures(region, &free, &largest);
        most = MAX(most, largest);
    }
    return most;
}

static mp_obj_t idf_heap_info(mp_obj_t capabilities) {
    if (!count) {
        begin();
    }
    mp_obj_t list = mp_obj_new_list(0, NULL);
    for (region_t *region = regions; region < regions + count; ++region) {
        size_t free, largest;
        figures(region, &free, &largest);
        mp_obj_t items[] = {
            MP_OBJ_NEW_SMALL_INT(region->size), MP_OBJ_NEW_SMALL_INT(free),
            MP_OBJ_NEW_SMALL_INT(largest), MP_OBJ_NEW_SMALL_INT(region->least),
        };
        mp_obj_list_append(list, mp_obj_new_tuple(4, items));
    }
    return list;
}
static MP_DEFINE_CONST_FUN_OBJ_1(idf_heap_info_obj, idf_heap_info);

static mp_obj_t take(mp_obj_t size) {
    return mp_obj_new_int_from_uint((mp_uint_t)(uintptr_t)tenner_pool_alloc(mp_obj_get_int(size)));
}
static MP_DEFINE_CONST_FUN_OBJ_1(take_obj, take);

static mp_obj_t give(mp_obj_t address) {
    tenner_pool_free((void *)(uintptr_t)mp_obj_get_int_truncated(address));
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(give_obj, give);

static mp_obj_t shake(mp_obj_t size_in, mp_obj_t piece_in) {
    size_t left = mp_obj_get_int(size_in), piece = mp_obj_get_int(piece_in);
    void *last = NULL;
    while (left) {
        // Each piece begins with the address of the one before.
        void **block = tenner_pool_alloc(MAX(MIN(left, piece), sizeof(void *)));
        if (!block) {
            break;
        }
        *block = last;
        last = block;
        left -= MIN(left, piece);
    }
    while (last) {
        void *before = *(void **)last;
        tenner_pool_free(last);
        last = before;
    }
    return mp_obj_new_bool(!left);
}
static MP_DEFINE_CONST_FUN_OBJ_2(shake_obj, shake);

#define MOST_BLOCKS (8)

typedef struct {
    mp_obj_base_t base;
    mp_obj_t stream;
    void *blocks[MOST_BLOCKS];
} session_t;

static void release(session_t *self) {
    for (size_t n = 0; n < MOST_BLOCKS; ++n) {
        if (self->blocks[n]) {
            tenner_pool_free(self->blocks[n]);
            self->blocks[n] = NULL;
        }
    }
}

static const mp_obj_type_t session_type;

static mp_obj_t session(mp_obj_t stream, mp_obj_t sizes) {
    size_t number;
    mp_obj_t *items;
    mp_obj_get_array(sizes, &number, &items);
    session_t *self = mp_obj_malloc_with_finaliser(session_t, &session_type);
    self->stream = stream;
    memset(self->blocks, 0, sizeof(self->blocks));
    for (size_t n = 0; n < MIN(number, MOST_BLOCKS); ++n) {
        self->blocks[n] = tenner_pool_alloc(mp_obj_get_int(items[n]));
        if (!self->blocks[n]) {
            release(self);
            mp_raise_OSError(MP_ENOMEM);
        }
    }
    return MP_OBJ_FROM_PTR(self);
}
static MP_DEFINE_CONST_FUN_OBJ_2(session_obj, session);

static mp_uint_t session_read(mp_obj_t self, void *buffer, mp_uint_t size, int *error) {
    mp_obj_t stream = ((session_t *)MP_OBJ_TO_PTR(self))->stream;
    return mp_get_stream(stream)->read(stream, buffer, size, error);
}

static mp_uint_t session_write(mp_obj_t self, const void *buffer, mp_uint_t size, int *error) {
    mp_obj_t stream = ((session_t *)MP_OBJ_TO_PTR(self))->stream;
    return mp_get_stream(stream)->write(stream, buffer, size, error);
}

static mp_uint_t session_ioctl(mp_obj_t self_in, mp_uint_t request, uintptr_t argument, int *error) {
    session_t *self = MP_OBJ_TO_PTR(self_in);
    if (request == MP_STREAM_CLOSE) {
        release(self);
    }
    return mp_get_stream(self->stream)->ioctl(self->stream, request, argument, error);
}

static mp_obj_t session_del(mp_obj_t self) {
    // Its stream may be gone already; its blocks in the pool are not.
    release(MP_OBJ_TO_PTR(self));
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(session_del_obj, session_del);

static mp_obj_t session_setblocking(mp_obj_t self, mp_obj_t flag) {
    mp_obj_t call[3];
    mp_load_method(((session_t *)MP_OBJ_TO_PTR(self))->stream, MP_QSTR_setblocking, call);
    call[2] = flag;
    return mp_call_method_n_kw(1, 0, call);
}
static MP_DEFINE_CONST_FUN_OBJ_2(session_setblocking_obj, session_setblocking);

static const mp_rom_map_elem_t session_locals_table[] = {
    { MP_ROM_QSTR(MP_QSTR_read), MP_ROM_PTR(&mp_stream_read_obj) },
    { MP_ROM_QSTR(MP_QSTR_readinto), MP_ROM_PTR(&mp_stream_readinto_obj) },
    { MP_ROM_QSTR(MP_QSTR_readline), MP_ROM_PTR(&mp_stream_unbuffered_readline_obj) },
    { MP_ROM_QSTR(MP_QSTR_write), MP_ROM_PTR(&mp_stream_write_obj) },
    { MP_ROM_QSTR(MP_QSTR_setblocking), MP_ROM_PTR(&session_setblocking_obj) },
    { MP_ROM_QSTR(MP_QSTR_close), MP_ROM_PTR(&mp_stream_close_obj) },
    { MP_ROM_QSTR(MP_QSTR___del__), MP_ROM_PTR(&session_del_obj) },
};
static MP_DEFINE_CONST_DICT(session_locals, session_locals_table);

static const mp_stream_p_t session_stream = {
    .read = session_read,
    .write = session_write,
    .ioctl = session_ioctl,
};

static MP_DEFINE_CONST_OBJ_TYPE(
    session_type, MP_QSTR_session, MP_TYPE_FLAG_NONE, protocol, &session_stream, locals_dict, &session_locals);

static const mp_rom_map_elem_t esp32_table[] = {
    { MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR_esp32) },
    { MP_ROM_QSTR(MP_QSTR_HEAP_DATA), MP_ROM_INT(4) },
    { MP_ROM_QSTR(MP_QSTR_idf_heap_info), MP_ROM_PTR(&idf_heap_info_obj) },
    { MP_ROM_QSTR(MP_QSTR_take), MP_ROM_PTR(&take_obj) },
    { MP_ROM_QSTR(MP_QSTR_give), MP_ROM_PTR(&give_obj) },
    { MP_ROM_QSTR(MP_QSTR_shake), MP_ROM_PTR(&shake_obj) },
    { MP_ROM_QSTR(MP_QSTR_session), MP_ROM_PTR(&session_obj) },
};
static MP_DEFINE_CONST_DICT(esp32_globals, esp32_table);

const mp_obj_module_t tenner_esp32 = {
    .base = { &mp_type_module },
    .globals = (mp_obj_dict_t *)&esp32_globals,
};
MP_REGISTER_MODULE(MP_QSTR_esp32, tenner_esp32);

#endif
