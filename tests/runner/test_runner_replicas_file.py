"""`replicas` in providers.toml: what may stand there, and what follows from it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from runner.providers.file import Providers
from runner.providers.schema import File

ADDRESSES = ["http://gpu1:8000/v1", "http://gpu2:8000/v1"]


def providers(**table) -> Providers:
    models = {"judge": {"id": "judge"}}
    return Providers(
        path="providers.toml",
        tables=File.model_validate({"providers": {"mine": {"models": models, **table}}}).providers,
    )


def test_each_replica_has_a_route_and_all_are_one_model():
    entry = providers(replicas=ADDRESSES).resolve("judge")
    (route,) = entry.usable()
    assert [server.base_url for server in route.servers()] == ADDRESSES
    alone = providers(base_url=ADDRESSES[0]).resolve("judge")
    assert [server.base_url for server in alone.routes[0].servers()] == ADDRESSES[:1]
    assert entry.settings().model_key == alone.settings().model_key


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"replicas": ADDRESSES, "base_url": "http://gpu3:8000/v1"}, "leave base_url out"),
        ({"replicas": [ADDRESSES[0], ADDRESSES[0]]}, "twice"),
        ({"replicas": ADDRESSES, "batch": True}, "a batch goes to one service"),
        ({"replicas": ADDRESSES, "kind": "embedded"}, "whose server is started here"),
        ({"replicas": ["gpu1:8000"]}, "http"),
        ({"replicas": []}, "base_url is missing"),
    ],
)
def test_what_cannot_stand_together_is_refused(table, said):
    with pytest.raises(ValidationError, match=said):
        providers(**table)
