// The counts of the counting build; tests/variants/build.py puts COUNT() into the interpreter's source.
#ifdef TENNER_COUNTERS

#include <stdint.h>

typedef struct {
    uint64_t opcodes;
    uint64_t allocated; // bytes, in whole blocks of the heap
    uint64_t collections;
    uint64_t imports; // modules loaded, counted each time
} tenner_counters_t;

extern tenner_counters_t *tenner_counters;

#define COUNT(what, n) (tenner_counters->what += (n))

#else
#define COUNT(what, n)
#endif
