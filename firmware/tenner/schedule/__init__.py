# tenner schedule: decides which tasks are due, and why others are not.
# MIT license; Copyright (c) 2026 the tenner authors
