# tenner store: files that survive a power cut, and the owner's settings.
# MIT license; Copyright (c) 2026 the tenner authors
