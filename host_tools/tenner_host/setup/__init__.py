"""`tenner setup`: from questions to a board with a network, a model and an owner."""
