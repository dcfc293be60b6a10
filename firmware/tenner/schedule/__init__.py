# tenner schedule: decides what is due, and why not now.
# MIT license; Copyright (c) 2026 the tenner authors
