"""What a build did, whichever domain builds."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Built:
    """What a build put into a study. All counts are of what was written, none is assumed."""

    domain: str
    collection: str
    arm: str
    template_hash: str
    documents: int
    labels: int
    values: int
    queries: int
    """Queries of this build, those included that were there before."""
    added: int
    retired: int
    """Queries of earlier builds that this one replaces."""
    placebos: int
    not_applicable: int
    """Case x label sets left out because the case cannot take the label."""
    left: int
    """Queries of earlier builds of the collection that this one does not have; they are asked too."""
    left_documents: int
    """The cases that these are about."""
    warnings: tuple[str, ...] = field(default=())
