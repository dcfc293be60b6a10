"""The ring of readings: the host reads the firmware's files, cut anywhere, and draws them."""

import json
import math
import sys
import time
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from tenner.sensors.ring import Ring
from tenner_host.cli import main as tenner
from tenner_host.errors import CommandError
from tenner_host.sensors.picture import figure, picture
from tenner_host.sensors.ring import PATHS, Series, read_ring
from tenner_host.sensors.scale import number, value_range
from tenner_host.sensors.terminal import plot
from tenner_sim.vboard import VirtualBoard

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def written(tmp_path):
    """A day of a room and a tank, as the firmware keeps it in 4 KB."""
    ring = Ring(str(tmp_path / "readings"), 4096)
    expected = {"room.temperature": [], "tank.level": []}
    # Between two readings: the last hour has twelve of them, when it is asked for and later.
    newest = int(time.time()) - 150
    for step in range(200):
        at = newest - (199 - step) * 300
        values = [("room.temperature", 20 + 5 * math.sin(step / 20)), ("tank.level", float(step))]
        ring.keep(at, values)
        for name, value in values:
            expected[name].append((at, value))
    files = {
        f"/state/{path.name}": path.read_bytes() for path in tmp_path.iterdir() if path.is_file()
    }
    return files, expected


def test_what_the_firmware_keeps_is_read(written):
    files, expected = written
    assert set(files) == set(PATHS)
    for series in read_ring(files):
        kept = expected[series.name][-len(series.times) :]
        # The oldest are overwritten; none of the others is missing or wrong.
        assert len(kept) > 100
        assert series.times == [at for at, _ in kept]
        assert series.values == pytest.approx([value for _, value in kept], rel=1e-6)


def test_a_file_cut_at_any_byte_loses_the_end_only(written):
    files, _ = written
    whole = {series.name: series for series in read_ring(files)}
    newest = max(PATHS[:2], key=lambda path: json.loads(files[path].split(b"\n")[0])[0])
    for length in range(len(files[newest])):
        cut = {**files, newest: files[newest][:length]}
        for series in read_ring(cut):
            assert set(series.times) <= set(whole[series.name].times)
    for damaged in (b"", b"{}", b"[1", b'["x"]\n', b"\xff\n", b"[]\n"):
        read_ring({**files, newest: damaged})


def test_readings_that_wait_are_not_counted_twice(written):
    files, _ = written
    newest = max(PATHS[:2], key=lambda path: json.loads(files[path].split(b"\n")[0])[0])
    moved = {**files, newest: files[newest] + files[PATHS[2]][4:]}
    assert [s.times for s in read_ring(moved)] == [s.times for s in read_ring(files)]


def test_the_picture_in_the_terminal_rises_with_the_values():
    series = Series("rising", list(range(0, 3600, 60)), [float(n) for n in range(60)])
    lines = list(plot(series, 0, 3600, width=50, height=6))
    assert lines[0] == "rising"
    assert lines[1].startswith("      59 ┤") and lines[6].startswith("       0 ┤")
    firsts = [
        len(line) - len(line.lstrip(" \u2800"))
        for line in (one.split("┤")[1] for one in lines[1:7])
    ]
    assert firsts == sorted(firsts, reverse=True) and firsts[0] > firsts[-1]
    assert all(len(line) <= 50 for line in lines)


def dots(series, end):
    """The places of the dots that the terminal shows, as (column, row from below)."""
    lines = [line.split("┤")[1] for line in list(plot(series, 0, end, width=50, height=2))[1:3]]
    order = (0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08)
    return {
        (2 * place + side, 4 * (1 - line) + up)
        for line, text in enumerate(lines)
        for place, letter in enumerate(text)
        for side in (0, 1)
        for up in range(4)
        if ord(letter) - 0x2800 & order[side][up]
    }


def test_the_terminal_joins_readings_and_leaves_gaps_open():
    # A reading for every fourth of 80 columns, and none in the middle third.
    values = [0.0, 7.0] * 10
    missing = set(range(7, 14))
    found = dots(every_5_minutes("room.temperature", values, missing), 6000)
    assert {column for column, _ in found} == {*range(25), *range(56, 77)}
    # The first line rises from the bottom to the top of the picture.
    assert {(0, 0), (2, 3), (3, 5), (4, 7)} <= found
    lone = dots(every_5_minutes("room.temperature", values, {*range(2, 6), *range(7, 12)}), 6000)
    assert {row for column, row in lone if column == 24} == {0}, "a reading between gaps is a dot"


def test_the_terminal_draws_on_and_off_as_steps():
    pump = every_5_minutes("pump.on", [0.0, 1.0, 1.0, 0.0])
    assert [line[:10] for line in list(plot(pump, 0, 1200, width=50, height=2))[1:3]] == [
        "      on ┤", "     off ┤"
    ]  # fmt: skip
    found = dots(pump, 1200)
    levels = {column: {row for at, row in found if at == column} for column, _ in found}
    assert all(levels[column] == {0} for column in range(20))
    assert levels[20] == set(range(8)) and levels[60] == set(range(8))
    assert all(levels[column] == {7} for column in range(21, 60))


def every_5_minutes(name, values, missing=()):
    kept = [place for place in range(len(values)) if place not in missing]
    return Series(name, [300 * place for place in kept], [values[place] for place in kept])


def panels(*series):
    return figure(series, 0, 86400).get_axes()


def legend(panel):
    return [text.get_text() for text in panel.get_legend().get_texts()]


def test_series_of_one_unit_share_a_panel_that_names_it():
    rising = [float(n) for n in range(60)]
    first, second, third = panels(
        every_5_minutes("room.temperature", rising),
        every_5_minutes("room.humidity", rising),
        every_5_minutes("cellar.temperature", rising),
        every_5_minutes("tank.stones", rising),
    )
    assert [panel.get_ylabel() for panel in (first, second, third)] == [
        "temperature [°C]", "humidity [%]", "stones"
    ]  # fmt: skip
    assert legend(first) == ["room.temperature", "cellar.temperature"]
    assert legend(second) == ["room.humidity"]
    line = first.get_lines()[0]
    assert list(line.get_ydata()) == rising
    assert line.get_drawstyle() == "default"
    assert list(line.get_xdata())[:2] == [0, 300 / 86400]


def test_a_line_ends_where_readings_are_missing():
    values = [float(n) for n in range(60)]
    missing = {*range(20, 30), *range(31, 35), 50}
    (panel,) = panels(every_5_minutes("room.temperature", values, missing))
    (line,) = panel.get_lines()
    drawn = list(line.get_ydata())
    # One reading that is late is no gap.
    assert [place for place, value in enumerate(drawn) if math.isnan(value)] == [20, 22]
    # The reading between two gaps has no line, so it is a dot.
    assert [drawn[place] for place in line.get_markevery()] == [30.0]


def test_what_is_on_or_off_is_drawn_as_steps():
    (first, second) = panels(
        every_5_minutes("pump.on", [0.0, 1.0, 1.0, 0.0]),
        every_5_minutes("roof.temperature", [0.0, 0.0, 1.0, 1.0]),
    )
    assert first.get_lines()[0].get_drawstyle() == "steps-post"
    assert [label.get_text() for label in first.get_yticklabels()] == ["off", "on"]
    assert second.get_lines()[0].get_drawstyle() == "default", "a unit is no switch"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["Küche.on", "сад.on", "κήπος.temperature", "$a$.b_c", "_x", "%"])
def test_a_name_may_have_any_letters(name):
    data = picture([every_5_minutes(name, [0.0, 1.0])], 0, 86400)
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR"
    assert legend(panels(every_5_minutes(name, [0.0, 1.0]))[0]) == [name]


def test_an_svg_has_the_panels_and_a_line_for_each_series_and_no_time():
    series = [
        every_5_minutes("room.temperature", [21.0, 22.0, 23.0]),
        every_5_minutes('<b>&"attic.temperature', [1.0, 5.0, 4.0]),
        every_5_minutes("room.humidity", [50.0, 51.0, 52.0]),
    ]
    data = picture(series, 0, 86400, "svg")
    root = ElementTree.fromstring(data)
    assert root.tag == f"{SVG}svg" and root.get("width") == "720pt"
    panels = [one for one in root.iter(f"{SVG}g") if one.get("id", "").startswith("axes_")]
    assert len(panels) == 2
    assert b"<dc:date>" not in data and b"<b>" not in data and b"<image" not in data
    # The line of a panel rises as its values do: in SVG, upwards is less.
    (humidity,) = [
        one.get("d").split()
        for one in panels[1].findall(f"{SVG}g[@id]/{SVG}path[@clip-path]")
        if "stroke-width: 1.6" in one.get("style")
    ]
    heights = [float(one) for one in humidity if "." in one][1::2]
    assert heights == sorted(heights, reverse=True) and len(set(heights)) > 1


def test_without_matplotlib_a_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        CommandError, match="needs the library matplotlib: .*pip install 'matplotlib.*`--plot`"
    ):
        panels(every_5_minutes("x", [1.0]))


def test_numbers_and_spans():
    assert [number(n) for n in (21.4375, 0.001234, 1013.2, 0, -5, 123456.7)] == [
        "21.44", "0.001234", "1013", "0", "-5", "123457"
    ]  # fmt: skip
    assert value_range(Series("x", [1], [5.0])) == (4.75, 5.25)
    assert value_range(Series("x", [1], [0.0])) == (-1.0, 1.0)


def test_the_command(written, tmp_path, monkeypatch):
    files, _ = written
    monkeypatch.chdir(tmp_path)
    with VirtualBoard({**files, "/main.py": b"print('main runs')\nwhile True: pass\n"}) as board:
        board.wait_for("main runs")

        def sensors(*arguments, status=0):
            done = CliRunner().invoke(tenner, ["sensors", "--port", board.pty, *arguments])
            assert done.exit_code == status, done.output
            board.wait_for("main runs")
            return done

        title, room, _ = sensors().stdout.splitlines()
        assert title.split() == ["last", "at", "min", "mean", "max", "readings"]
        assert room.startswith("room.temperature ") and " UTC " in room
        (level,) = json.loads(sensors("tank", "--json", "--hours", "1").stdout)["series"]
        assert [level[key] for key in ("name", "value", "count", "min", "max")] == [
            "tank.level", 199.0, 12, 188.0, 199.0
        ]  # fmt: skip
        drawn = sensors("--plot").stdout
        assert "┤" in drawn and "UTC\n" in drawn
        done = sensors("--png", "x.png", "--svg", "x.svg")
        assert done.stderr.splitlines()[-2:] == ["drawn into x.png", "drawn into x.svg"]
        # Temperature and level have a panel each.
        assert (tmp_path / "x.png").read_bytes()[20:24] == (2 * 336).to_bytes(4, "big")
        assert (
            "there are no readings of attic; available: room" in sensors("attic", status=1).stderr
        )
    with VirtualBoard({}) as board:
        done = CliRunner().invoke(tenner, ["sensors", "--port", board.pty])
        assert "the board has kept no readings" in done.stderr
