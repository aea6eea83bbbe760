"""How often each true class was answered as each class, group by group."""

from __future__ import annotations

import numpy as np

from analyze.groups import rows
from analyze.groups.data import GroupData


def confusion_rows(data: GroupData) -> list[rows.Confusion]:
    """The cells that are not empty, of outcomes with one class a row; without an answer the class is None."""
    if data.classes.several:
        return []
    names = data.classes.names
    size = len(names)
    found = []
    for one in data.predictions:
        predicted = np.where(one.answered, one.values, size)
        for attribute in data.attributes:
            inside = attribute.codes >= 0
            cell = (attribute.codes * size + data.truth) * (size + 1) + predicted
            counts = np.bincount(cell[inside], minlength=len(attribute.groups) * size * (size + 1))
            for code in np.flatnonzero(counts).tolist():
                rest, answered_as = divmod(code, size + 1)
                group, true = divmod(rest, size)
                found.append(
                    rows.Confusion(
                        data.collection,
                        one.model,
                        one.seed,
                        attribute.name,
                        attribute.groups[group],
                        names[true],
                        None if answered_as == size else names[answered_as],
                        int(counts[code]),
                    )
                )
    return found
