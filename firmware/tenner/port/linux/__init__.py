# tenner port.linux: Linux boards and computers.
# MIT license; Copyright (c) 2026 the tenner authors
