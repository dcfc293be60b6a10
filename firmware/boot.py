# tenner boot.py: runs first on every boot and returns at once, so that a board is never bricked here.
# MIT license; Copyright (c) 2026 the tenner authors
