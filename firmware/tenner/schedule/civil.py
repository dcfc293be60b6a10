# tenner schedule.civil: dates of the Gregorian calendar as whole numbers of days since 1970-01-01.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Own arithmetic, because time.gmtime counts from 2000 on one platform and from 1970 on the
other, and because single-precision floats cannot hold a time of day in this century.
"""


def days_of(year, month, day):
    """Days from 1970-01-01 to the date; a day past the end of its month counts on."""
    # Years start in March, so that the leap day is the last day of the year before.
    if month <= 2:
        year -= 1
        month += 12
    return (
        365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day
    ) - 719469


def date_of(days):
    """(year, month, day) of a number of days since 1970-01-01."""
    days += 719468
    era = days // 146097
    day = days - era * 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5
    year += era * 400
    if month >= 10:
        return year + 1, month - 9, day + 1
    return year, month + 3, day + 1


def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_days(year, month):
    """Number of days of a month."""
    if month == 2:
        return 29 if is_leap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31
