"""One request and its reply: what is sent, over which connection, and the answer or fault that returns."""
