# bench chip: the clock is right already.
def settime():
    pass
