"""A report, also of nothing."""

from toy import stats, units


def text(values):
    if not values:
        return apology()
    return "mean %.1f C, spread %.1f" % (stats.mean(values), stats.spread(values))


def apology():
    return "no value above %.1f C" % units.celsius(0)
