"""`tenner sensors`: the readings a board has kept, as a table and as pictures."""
