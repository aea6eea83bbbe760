"""How well the runner finds how many requests to keep open: a simulated client and server."""
