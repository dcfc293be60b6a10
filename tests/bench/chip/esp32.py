# bench chip: makes the firmware choose its ESP32 port; on the chip this is C and takes no heap.
HEAP_DATA = 4


def idf_heap_info(capabilities):
    return [(180000, 100000, 60000, 90000)]


class Partition:
    """That of a layout with one slot."""

    RUNNING = 1

    def __init__(self, which):
        pass

    def get_next_update(self):
        raise OSError(2)


def raw_temperature():
    return 120
