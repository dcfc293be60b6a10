"""Generated input for the parsers of what others send: `make fuzz S=600`."""
