"""The whole life of a real board, or of an emulator of one, behind a serial port: python -m
tests.hw --port PORT."""
