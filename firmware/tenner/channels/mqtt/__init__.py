# tenner channels.mqtt: a broker.
# MIT license; Copyright (c) 2026 the tenner authors
