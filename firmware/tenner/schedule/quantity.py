# tenner schedule.quantity: units: 41 °F is 5 °C for a sensor that gives °C.
# MIT license; Copyright (c) 2026 the tenner authors

# Dimension, then spellings with their factors to its first unit.
_UNITS = (
    ("temperature", "\u00b0c 1 c 1 \u00b0f 0.5555556 f 0.5555556 k 1"),
    ("voltage", "v 1 mv 0.001 kv 1000 uv 0.000001"),
    ("current", "ma 1 a 1000 ua 0.001"),
    ("power", "w 1 kw 1000 mw 0.001"),
    ("energy", "wh 1 kwh 1000"),
    ("pressure", "hpa 1 mbar 1 pa 0.01 kpa 10 bar 1000 psi 68.94757 mmhg 1.333224 inhg 33.86389"),
    ("distance", "mm 1 cm 10 m 1000 km 1000000 in 25.4 inch 25.4 ft 304.8"),
    ("volume", "l 1 ml 0.001 gal 3.785412"),
    ("speed", "m/s 1 km/h 0.2777778 kmh 0.2777778 mph 0.44704 kn 0.5144444"),
    ("time", "s 1 min 60 m 60 h 3600 d 86400 ms 0.001"),
    ("share", "% 1"),
    ("light", "lx 1 lux 1 klx 1000"),
    ("concentration", "ppm 1 ppb 0.001"),
    ("mass", "kg 1 g 0.001 lb 0.4535924 lbs 0.4535924"),
    ("signal", "dbm 1"),
    ("memory", "b 1 kb 1024 mb 1048576"),
    ("angle", "\u00b0 1"),
    ("frequency", "hz 1 khz 1000"),
)


def dimensions(unit: str) -> dict[str, float]:
    """Return {dimension: factor to its first unit} of a unit, in any case of its letters; `m` is
    a distance and a time."""
    found = {}
    for name, text in _UNITS:
        words = text.split()
        for index in range(0, len(words), 2):
            if words[index] == unit.lower():
                found[name] = float(words[index + 1])
    return found


def converted(number: float, unit: str, own: str, is_difference: bool = False) -> float:
    """
    Return a number of `unit` in `own`, the sensor's unit, "" where it is not known. ValueError
    with a sentence for a unit of another dimension or an unknown one.
    """
    if not unit or unit.lower() == own.lower():
        return number
    found = dimensions(unit)
    if not found:
        raise ValueError('"%s" is no unit; %s' % (unit, _expected(own)))
    if not own:
        return number
    wanted = dimensions(own)
    for name in found:
        if name in wanted:
            return _rounded(_change(number, name, unit, own, is_difference,
                                    found[name] / wanted[name]))  # fmt: skip
    raise ValueError('"%s" is another quantity than %s; %s' % (unit, own, _expected(own)))


def _change(number, name, unit, own, is_difference, factor):
    if name == "temperature" and not is_difference:
        return (number - _zero(unit)) * factor + _zero(own)
    return number * factor


def _zero(unit):
    """Return the freezing point of water in a unit of temperature."""
    letter = unit.lower()[-1]
    return 32 if letter == "f" else 273.15 if letter == "k" else 0


def _rounded(number):
    number = round(number * 10000) / 10000
    return int(number) if number == int(number) else number


def _expected(own):
    return "expected %s, such as 30 %s" % (own, own) if own else "expected one such as \u00b0C, V"
