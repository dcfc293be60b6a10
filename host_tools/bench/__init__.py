"""`make bench`: measures what the design has budgets for; never part of a test's verdict."""
