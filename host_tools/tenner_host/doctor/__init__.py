"""`tenner doctor`: from the cable to the model, each link of the chain with its state and its
remedy."""
