"""A run over a provider's batch interface: submit, wait, fetch, store.

`run` goes through all models of a run, `model` through the batches of one; `requests` writes what a batch
asks, `results` reads what it brought, `api` has the calls of the interface, `report` what a person sees.
"""

__all__ = ["run"]
