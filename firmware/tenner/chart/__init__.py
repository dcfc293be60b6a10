# tenner chart: draws the readings of a value as a picture for a phone.
# MIT license; Copyright (c) 2026 the tenner authors
