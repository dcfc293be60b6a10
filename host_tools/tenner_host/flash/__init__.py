"""`tenner flash`: put MicroPython onto a board, and keep the files of its owner and its agent.

All of it happens in one session of the chip's serial loader, which answers with any content of the
flash: a board that does not start, loops or waits for a model is flashed like any other. The
board's files come from the littlefs in flash, without the help of the board's program.
"""
