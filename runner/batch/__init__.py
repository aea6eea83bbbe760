"""A run over a provider's batch interface: submit, wait, fetch, store."""
