"""A thermometer: takes values, and reports on them."""

from toy import overlay, report, sensor


def main():
    for count in (5, 0):
        values = overlay.run("READ", sensor.read, count)
        print(len(values), "values")
        print(overlay.run("REPORT", report.text, values))
