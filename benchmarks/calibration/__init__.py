"""Does the inference keep its promises? Simulations with known answers."""
