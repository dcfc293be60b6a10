# bench chip: makes the firmware choose its ESP32 port; on the chip this is C and takes no heap.
