"""How much may be sent: rate limits by the minute, concurrency, and what a server's headers say of them.

No library keeps the rate limits here. aiolimiter, which once was to, is a leaky bucket to be awaited: it
cannot say beforehand how long the wait will be, by which a lane is chosen; it grants a whole period at
once, where a server that counts a minute strictly then refuses; and it takes nothing back when an answer used
fewer tokens than were set aside for it.
"""
