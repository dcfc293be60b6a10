"""Steps of the sensor, and degrees."""

STEPS = 16


def celsius(raw):
    return raw / STEPS
