"""`tenner setup`: from questions to a board that is on the network, with a model and an owner."""
