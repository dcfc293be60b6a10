# tenner tests: cron expressions against croniter, time zones against the tz database.
# MIT license; Copyright (c) 2026 the tenner authors

import datetime
import random
import zoneinfo

import pytest
from croniter import croniter

from tenner.schedule.due import Cron
from tenner.store.posix_tz import Zone
from tenner_host import FIRMWARE

pytestmark = pytest.mark.long

UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)

ZONES = {
    "Europe/Berlin": "CET-1CEST,M3.5.0,M10.5.0/3",
    "Europe/London": "GMT0BST,M3.5.0/1,M10.5.0",
    "Europe/Dublin": "IST-1GMT0,M10.5.0,M3.5.0/1",
    "America/New_York": "EST5EDT,M3.2.0,M11.1.0",
    "America/St_Johns": "NST3:30NDT,M3.2.0,M11.1.0",
    "America/Nuuk": "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
    "Australia/Lord_Howe": "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
    "Australia/Sydney": "AEST-10AEDT,M10.1.0,M4.1.0/3",
    "Pacific/Chatham": "<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45",
    "Asia/Kolkata": "IST-5:30",
    "Asia/Jerusalem": "IST-2IDT,M3.4.4/26,M10.5.0",
    "America/Havana": "CST5CDT,M3.2.0/0,M11.1.0/1",
}
FIRST = 1704067200  # 2024-01-01
LAST = FIRST + 20 * 366 * 86400


PLACES = (FIRMWARE / "tenner/store/zones.tsv").read_text(encoding="utf-8").splitlines()


def test_the_boards_places_are_those_of_the_tz_database():
    names = [line.split("\t")[0] for line in PLACES]
    assert names == sorted(set(names))
    for name, rule in (line.split("\t") for line in PLACES):
        zone, known = Zone(name), zoneinfo.ZoneInfo(name)
        assert zone.text == rule
        # Each month of 2025, which no later law changes. Morocco has hours of its own in Ramadan.
        for utc in range(1735732800, 1767225600, 30 * 86400):
            offset = datetime.datetime.fromtimestamp(utc, known).utcoffset()
            assert offset is not None
            if name != "Africa/Casablanca":
                assert zone.offset(utc) == offset.total_seconds(), (name, utc)


@pytest.mark.parametrize("name", sorted(ZONES))
def test_zone_is_the_tz_databases(name):
    zone, known = Zone(ZONES[name]), zoneinfo.ZoneInfo(name)
    chance = random.Random(name)
    moments = [chance.randrange(FIRST, LAST) for _ in range(3000)]
    # Every half hour round each change.
    before = None
    for utc in range(FIRST, LAST, 86400):
        offset = datetime.datetime.fromtimestamp(utc, known).utcoffset()
        if before is not None and offset != before:
            moments.extend(range(utc - 86400, utc + 3600, 1800))
            moments.extend(range(utc - 86401, utc + 3600, 1800))
        before = offset
    for utc in moments:
        local = datetime.datetime.fromtimestamp(utc, known)
        assert zone.offset(utc) == local.utcoffset().total_seconds(), (name, local)
        found = zone.local(utc)
        assert found[:7] == local.timetuple()[:7], (name, local)
        assert found[7] == local.timetuple().tm_yday
        # Back again: a repeated time is its first pass.
        first = local.replace(fold=0)
        assert zone.utc_of(*found[:6]) == first.timestamp(), (name, local)


def field(chance, low, high, names=()):
    kind = chance.randrange(8)
    a, b = sorted((chance.randint(low, high), chance.randint(low, high)))
    # croniter takes 2-2 for every value.
    if kind < 2 or a == b:
        return "*"
    if kind == 2:
        return "*/%d" % chance.randint(1, max(high // 2, 1))
    if kind == 3:
        return "%d-%d" % (a, b)
    if kind == 4:
        return "%d-%d/%d" % (a, b, chance.randint(1, 5))
    if kind == 5:
        return ",".join(str(chance.randint(low, high)) for _ in range(3))
    if kind == 6 and names:
        return chance.choice(names)
    return str(a)


MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
DAYS = "sun mon tue wed thu fri sat".split()


def expressions(count):
    chance = random.Random(20261121)
    while count:
        expr = " ".join(
            (
                field(chance, 0, 59),
                field(chance, 0, 23),
                field(chance, 1, 31) if chance.randrange(2) else "*",
                field(chance, 1, 12, MONTHS) if chance.randrange(2) else "*",
                field(chance, 0, 6, DAYS) if chance.randrange(2) else "*",
            )
        )
        try:
            Cron(expr)
        except ValueError:
            # 31 February; the other side must not know a time either.
            assert not croniter.is_valid(expr) or not any_match(expr), expr
            continue
        count -= 1
        yield expr, chance.randrange(FIRST, LAST)


def any_match(expr):
    try:
        croniter(expr, EPOCH, implement_cron_bug=True).get_next()
    except Exception:
        return False
    return True


@pytest.mark.parametrize("name", ZONES)
def test_a_time_with_its_zone_is_that_moment(name):
    for utc in (0, 1790000000, 1774746000):
        text = Zone(ZONES[name]).iso(utc)
        found = datetime.datetime.fromisoformat(text)
        assert found.timestamp() == utc and found.isoformat() == text


def test_cron_is_croniters():
    zone = Zone("UTC0")
    for expr, utc in expressions(3000):
        start = EPOCH + datetime.timedelta(seconds=utc)
        # A field that begins with * does not restrict the day, as in cron; croniter does so on
        # demand.
        theirs = croniter(expr, start, implement_cron_bug=True, max_years_between_matches=50)
        ours = Cron(expr)
        for _ in range(3):
            utc = ours.next_after(utc, zone)
            wanted = theirs.get_next(datetime.datetime)
            assert utc == wanted.timestamp(), (expr, start, wanted)


@pytest.mark.parametrize("name", sorted(set(ZONES) - {"Asia/Kolkata"}))
def test_cron_over_changes_of_the_clock(name):
    """Two days and more round a change: the wall-clock times of a zone-less cron, mapped by the tz
    database."""
    zone, known = Zone(ZONES[name]), zoneinfo.ZoneInfo(name)
    chance = random.Random(name)
    for expr, utc in expressions(150):
        # Any day may be the one of the change.
        expr = " ".join(expr.split()[:2] + ["*"] * 3)
        change = jump_before(known, utc)
        if change < FIRST:
            continue  # by a rule of its own, perhaps
        start = change - chance.randrange(36 * 3600)
        end = change + 86400
        cron = Cron(expr)
        found, at = [], start
        while (at := cron.next_after(at, zone)) < end:
            found.append(at)
        assert found == sorted(mapped(cron, known, start, end)), (expr, name, start)


def mapped(cron, known, start, end):
    """The matches between two moments by the rule of the documentation."""
    minute, hour = cron._masks[:2]
    passes = (0, 1) if cron._goes_on else (0,)
    moments = set()
    for wall in range(start // 60 * 60 - 86400, end + 86400, 60):
        if not (hour >> wall // 3600 % 24 & 1 and minute >> wall // 60 % 60 & 1):
            continue
        for fold in passes:
            naive = (EPOCH + datetime.timedelta(seconds=wall)).replace(tzinfo=known, fold=fold)
            there = int(naive.timestamp())
            back = datetime.datetime.fromtimestamp(there, known).replace(tzinfo=None)
            if back != naive.replace(tzinfo=None):
                # Skipped: it runs at the jump.
                there = jump_before(known, int(naive.replace(fold=0).timestamp()))
            if start < there < end:
                moments.add(there)
    return moments


def jump_before(known, utc):
    """The moment of the last change of the clocks before `utc`, searched to the second."""
    high = utc
    offset = datetime.datetime.fromtimestamp(high, known).utcoffset()
    low = high
    while datetime.datetime.fromtimestamp(low, known).utcoffset() == offset:
        low -= 43200
    while high - low > 1:
        middle = (low + high) // 2
        if datetime.datetime.fromtimestamp(middle, known).utcoffset() == offset:
            high = middle
        else:
            low = middle
    return high
