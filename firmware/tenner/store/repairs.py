# tenner store.repairs: what is done to files after something went wrong.
# MIT license; Copyright (c) 2026 the tenner authors

import os

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files

_LAST_ASIDE = const(9)


def clean_strays(folder):
    """Delete the *.tmp files a power cut left in `folder` and below; return how many."""
    count = 0
    if not files.is_folder(folder):
        return count
    for name in os.listdir(folder):
        path = folder + "/" + name
        if name.endswith(files.TEMP) and not files.is_folder(path):
            files.remove(path)
            count += 1
        elif files.is_folder(path):
            count += clean_strays(path)
    return count


def set_aside(path):
    """Rename a corrupt file to `path.bad` (`.bad1` ... when taken) and return the new name."""
    aside = path + ".bad"
    number = 0
    while files.exists(aside) and number < _LAST_ASIDE:
        number += 1
        aside = "%s.bad%d" % (path, number)
    if files.exists(aside):
        log("store", "replacing %s: too many corrupt files were set aside" % aside)
        files.remove(aside)
    os.rename(path, aside)
    return aside
