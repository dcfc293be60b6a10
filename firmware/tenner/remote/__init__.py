# tenner remote: serves the owner's computer through the MQTT broker, which it does not trust.
# MIT license; Copyright (c) 2026 the tenner authors
