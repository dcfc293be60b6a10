"""Generated input for the parsers of foreign data: `make fuzz S=600`."""
