# tenner port.package: where the data files that ship with the code are.
# MIT license; Copyright (c) 2026 the tenner authors

import os
import sys


def package_path(name):
    """Path of a data file that ships with the code, such as `store/config.tsv`."""
    # Not by __file__: frozen code has none, and its data files lie in /lib all the same.
    for place in sys.path:
        path = (place + "/" if place else "") + "tenner/" + name
        try:
            os.stat(path)
            return path
        except OSError:
            continue
    raise OSError(2, "tenner/%s is missing: sync the board again" % name)
