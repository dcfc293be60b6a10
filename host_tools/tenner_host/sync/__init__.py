"""`tenner sync`: code to the board, completely or not at all, and the workspace both ways, never
over a change."""
