"""`tenner update`: a signed release to boards at a broker, one first and then the rest."""
