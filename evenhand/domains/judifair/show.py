"""Showing a prompt of this domain: its labels by every name that people know them by."""

from __future__ import annotations

import store
from evenhand.audit import show as audit_show
from evenhand.audit.show import KnownLabel, Shown
from evenhand.domains.judifair import SCHEMA, catalogue


def show(study: store.Study, query: str, arm: str | None = None) -> Shown:
    """The query named, by `evenhand.audit.show.show`; a label may be given by its published key too."""
    labels = catalogue.names_of(catalogue.of_study(study.connection))
    known = {
        name: KnownLabel(
            label.key, label.name_en, {value.zh: value.en for value in label.values}, label.reference.zh
        )
        for name, label in labels.items()
    }
    return audit_show.show(study, query, arm, domain=SCHEMA, labels=known)
