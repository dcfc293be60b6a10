"""Talk with a running agent over its serial console, without stopping it."""
