"""The picture of a chart: decoded by Pillow, equal to a reference pixel by pixel, on each
interpreter."""

import functools
import io
import json
import math
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tenner.chart import picture
from tenner.chart.png import Png
from tenner_host import FIRMWARE, ROOT
from tenner_sim.services.telegram_files import photo_problem, png_size
from tests.host import chart_reference

SCRIPT = ROOT / "tests" / "host" / "chart_draw.py"
BERLIN = ("CET-1CEST,M3.5.0,M10.5.0/3", "Europe/Berlin")
UTC = ("UTC0", "UTC")
HOUR, DAY = 3600, 86400
NOON = 1795000200 // DAY * DAY + 12 * HOUR


def case(readings, since=NOON - DAY, until=NOON, name="room.temperature", unit="\u00b0C", **more):
    return {
        "name": name,
        "unit": unit,
        "zone": BERLIN,
        "since": since,
        "until": until,
        "readings": readings,
        "bands": [],
        "levels": [],
        **more,
    }


def every(step, since, until, value):
    # As 32 bits of each are kept on flash.
    return [(at, float(np.float32(value(at)))) for at in range(since, until + 1, step)]


def wave(at):
    return 20 + 5 * math.sin(at / 9000) + 0.3 * math.sin(at / 170)


def spikes(at):
    return 1013.2 + (40 if at % (3 * DAY) < 300 else 0.25 * math.sin(at))


def without(readings, start, end):
    return [one for one in readings if not start < one[0] < end]


DAILY = every(300, NOON - DAY, NOON, wave)
WEEK = every(300, NOON - 7 * DAY, NOON, spikes)
SUMMER = 1774746000  # 2026-03-29 02:00 in Berlin, when the clocks skip an hour
WINTER = 1792890000
CASES = {
    "day": case(DAILY, bands=[(NOON - 9 * HOUR, NOON - 5 * HOUR)], levels=[22.5]),
    "gaps": case(without(without(DAILY, NOON - 70000, NOON - 60000), NOON - 9000, NOON - 8300)),
    "switch": case(
        every(300, NOON - DAY, NOON, lambda at: float(at // 7000 % 3 == 1)), name="fan.on", unit=""
    ),
    "switch with a gap": case(
        without(
            every(60, NOON - HOUR, NOON, lambda at: float(at // 700 % 2)),
            NOON - 2000,
            NOON - 1000,
        ),
        since=NOON - HOUR,
        name="door",
        unit="",
    ),
    "spikes in a week": case(WEEK, since=NOON - 7 * DAY, name="roof.pressure", unit="hPa"),
    "one reading": case([(NOON - 4000, 3.25)], bands=[(NOON - 5000, NOON - 3000)], levels=[3.25]),
    "constant": case(every(600, NOON - DAY, NOON, lambda at: 50.0), unit="%", zone=UTC),
    "all zero": case(every(600, NOON - DAY, NOON, lambda at: 0.0), unit="V"),
    "old": case([(NOON - 5 * DAY, -7.0), (NOON - 5 * DAY + 60, -6.5)], since=NOON - 6 * DAY),
    "summer": case(
        every(600, SUMMER - DAY, SUMMER + DAY, wave), since=SUMMER - DAY, until=SUMMER + DAY
    ),
    "winter": case(
        every(600, WINTER - 6 * HOUR, WINTER + 6 * HOUR, wave),
        since=WINTER - 6 * HOUR,
        until=WINTER + 6 * HOUR,
    ),
    "a year": case(
        every(6 * HOUR, NOON - 365 * DAY, NOON, lambda at: wave(at / 300)), since=NOON - 365 * DAY
    ),
    "five minutes": case(every(10, NOON - 300, NOON, wave), since=NOON - 300),
    "the clock set back": case(DAILY[:200] + [(at - 9000, v) for at, v in DAILY[200:]]),
    "small numbers": case(every(300, NOON - DAY, NOON, lambda at: wave(at) / 5e4), unit="A"),
    # Hundreds of rows are equal: their copies are one list, unless it is cut.
    "a door that stayed shut": case(
        every(300, NOON - DAY, NOON, lambda _: 0), name="door.door", unit=""
    ),
    "a long name": case(DAILY, name="the sensor \u00fcber dem Gew\u00e4chshaus.temperature"),
    "noise": case(
        [(at, float(np.float32(random.Random(at).gauss(0, 9)))) for at, _ in DAILY],
        unit="mm",
        bands=[(0, NOON - 80000), (NOON - 500, NOON + 9000), (5, 9)],
        levels=[-9, 9, 400],
    ),
}
INTERPRETERS = ("cpython", "micropython", "micropython32")


@pytest.fixture(scope="module", params=INTERPRETERS)
def drawn(request, tmp_path_factory):
    """Name -> PNG of every case, drawn by an interpreter."""
    folder = tmp_path_factory.mktemp(request.param)
    cases = folder / "cases.json"
    cases.write_text(json.dumps(list(CASES.values())))
    command = [sys.executable, str(SCRIPT), str(cases), str(folder)]
    if request.param != "cpython":
        found = request.getfixturevalue(request.param)
        command = found.command(SCRIPT, cases, folder)
    places = {"PYTHONPATH": str(FIRMWARE), "MICROPYPATH": f"{FIRMWARE}:.frozen"}
    done = subprocess.run(command, env=places, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return {name: (folder / f"{n}.png").read_bytes() for n, name in enumerate(CASES)}


def pixels(data):
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        assert image.mode == "P"
        assert bytes(image.getpalette()[: len(picture.PALETTE)]) == picture.PALETTE
        return np.asarray(image)


@functools.cache
def reference(name):
    return chart_reference.draw(CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_each_pixel_is_that_of_the_reference(drawn, name):
    found, wanted = pixels(drawn[name]), reference(name)
    wrong = np.argwhere(found != wanted)
    assert not len(wrong), f"{len(wrong)} pixels (y, x) differ: {wrong[:8].tolist()}"


def test_each_is_a_photo_and_light_enough_for_a_phone(drawn):
    for name, data in drawn.items():
        assert photo_problem(data) is None, name
        assert png_size(data) == (picture.WIDTH, picture.HEIGHT)
        assert len(data) < 20_000, name


def test_no_spike_is_lost(drawn):
    found = pixels(drawn["spikes in a week"])
    top = found[chart_reference.TOP : chart_reference.TOP + 40]
    columns = {int(x) for x in np.argwhere(top == chart_reference.CURVE)[:, 1]}
    # A pen two columns wide, two or three times a week.
    spiked = [at for at, value in WEEK if value > 1050]
    assert len(spiked) in (2, 3) and len(columns) == 2 * len(spiked)


def made(rows, told):
    """A PNG of these rows; `told`: the encoder is told which bytes differ."""
    data = io.BytesIO()
    png = Png(data.write, 2 * len(rows[0]), len(rows) + 1, picture.PALETTE)
    above = bytes(len(rows[0]))
    png.row(above)
    for row in rows:
        differ = [at for at in range(len(row)) if row[at] != above[at]]
        png.row(row, differ if told else None)
        above = row
    png.end()
    return data.getvalue()


def row_of(width):
    """Rows with runs, which the encoder looks for."""
    run = st.tuples(st.integers(0, 255), st.integers(1, width))
    return st.lists(run, min_size=1, max_size=9).map(
        lambda runs: b"".join(bytes([byte]) * count for byte, count in runs)[:width].ljust(width)
    )


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_rows_come_out_as_they_went_in(data):
    width = data.draw(st.sampled_from((5, 6, 31, 320, 700)))
    rows = data.draw(st.lists(row_of(width), min_size=1, max_size=4))
    order = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=24))
    wanted = [rows[number] for number in order]
    wanted += wanted[-1:] * data.draw(st.sampled_from((0, 0, 1, 300)))
    first = made(wanted, True)
    assert first == made(wanted, False)
    assert png_size(first) == (2 * width, len(wanted) + 1)
    packed = np.array([[0] * width, *map(list, wanted)], np.uint8)
    found = pixels(first)
    assert np.array_equal(found[:, 0::2], packed >> 4)
    assert np.array_equal(found[:, 1::2], packed & 15)
