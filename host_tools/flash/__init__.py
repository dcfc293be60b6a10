"""`tenner flash`: MicroPython onto a board, with all that its owner and its agent wrote kept.

Everything happens in one session of the chip's serial loader, which answers whatever is in flash: a
board that does not start, loops or waits for a model is flashed like any other. Its files are read from the
littlefs in flash, without the help of what runs on it.
"""
