# tenner link: inspects memory and buses; runs on the board.
# MIT license; Copyright (c) 2026 the tenner authors


def t_memory():
    import gc

    gc.collect()
    blocks = None
    try:
        import esp32

        # (total, free, largest block, least free ever) of each region that Wi-Fi and TLS live in.
        blocks = [tuple(row) for row in esp32.idf_heap_info(esp32.HEAP_DATA)]
    except (ImportError, AttributeError):
        pass
    print(repr((gc.mem_free(), gc.mem_alloc(), blocks)))


def t_i2c(number, scl, sda, freq):
    from machine import I2C, Pin

    levels = []
    for pin in (scl, sda):
        levels.append(Pin(pin, Pin.IN).value())
    found = error = None
    try:
        found = I2C(number, scl=Pin(scl), sda=Pin(sda), freq=freq).scan()
    except (OSError, ValueError) as caught:
        error = (type(caught).__name__, str(caught))
    print(repr((levels, found, error)))
