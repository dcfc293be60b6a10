# tenner sensors.errors: the error of a sensor that gives no value.
# MIT license; Copyright (c) 2026 the tenner authors


class SensorError(Exception):
    """A sentence about a sensor that gave no value, with its name."""
