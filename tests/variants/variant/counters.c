// The counters live in the file $TENNER_COUNTERS: reading them does not disturb the counts.
#include "counters.h"

#ifdef TENNER_COUNTERS

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static tenner_counters_t nowhere;
tenner_counters_t *tenner_counters = &nowhere;

__attribute__((constructor)) static void open_counters(void) {
    const char *path = getenv("TENNER_COUNTERS");
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0) {
        return;
    }
    void *page = mmap(NULL, sizeof(nowhere), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (page != MAP_FAILED) {
        tenner_counters = page;
    }
}

#endif
