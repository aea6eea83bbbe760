"""How much may be sent: rate limits by the minute, concurrency, and what a server's headers say of them."""
