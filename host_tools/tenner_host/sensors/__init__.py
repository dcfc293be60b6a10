"""`tenner sensors`: the readings stored on a board, as a table and as pictures."""
