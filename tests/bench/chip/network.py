# bench chip: a link that is up.
class WLAN:
    def __init__(self, *args):
        pass

    def isconnected(self):
        return True

    def status(self, what):
        return -50
