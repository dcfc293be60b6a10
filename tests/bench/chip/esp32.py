# bench chip: makes the firmware choose its ESP32 port; on the chip this is C and takes no heap.
HEAP_DATA = 4


def idf_heap_info(capabilities):
    return [(180000, 100000, 60000, 90000)]
