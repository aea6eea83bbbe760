"""What is estimated of a domain's outcomes, where the domain has no specifications of its own.

One `Specifications` for each outcome, by its kind:

    amount       in its unit; with transform = "log1p" the primary estimate is of ln(amount + 1)
    probability  in percentage points
    yes_no       the share of "yes", in percentage points
    ordinal      the place of the class, in steps; the sign test compares the order alone
    class        the share of each class, in percentage points; the test is of all classes together
    classes      likewise: the share of answers that hold each class

A folder may have its own: `specifications.toml` about the outcome that it names, or about the only one, and
`specifications.OUTCOME.toml`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from analyze.specification import (
    DUMMIES,
    ClassShare,
    Coding,
    FrameNames,
    Inference,
    Metric,
    Metrics,
    Specification,
    Specifications,
    load,
)
from evenhand.audit.names import DEFAULT_LANGUAGE, name_in
from evenhand.audit.outcome_views import frame_name, is_class, placebos_name
from evenhand.audit.outcomes import Amount, Classes, OneClass, Ordinal, Outcome, Probability, YesNo
from evenhand.audit.read import CODING
from evenhand.audit.report_texts import report_texts
from store.errors import BadInput
from store.migrate import quoted

if TYPE_CHECKING:
    from evenhand.audit.domain import Domain

POINTS = "percentage points"
STEPS = "steps"
MAIN, LEVEL, LOG, ROBUST, ERROR, ANY_CLASS = "main", "level", "log", "robust_se", "error", "any_class"
"""Names of the variants."""
_CLUSTERED = "clustered:doc_id"
_READ = Coding(
    CODING,
    "Every answer that can be read with certainty. What is refused, cut off, ambiguous, out of range or "
    "unreadable, and every failed request, is missing, and counted.",
)


def specifications(domain: Domain) -> tuple[Specifications, ...]:
    """What is estimated of each outcome of a domain, in the domain's order.

    Raises:
        BadInput: a file of specifications in the domain's folder is wrong, or is about no outcome of it.
    """
    own = _own(domain)
    return tuple(own.get(outcome.name) or default(domain, outcome) for outcome in domain.outcomes)


def default(domain: Domain, outcome: Outcome) -> Specifications:
    """What is estimated of an outcome unless the domain says otherwise."""
    schema = quoted(domain.schema)
    variants = _variants(outcome)
    names = [variant.name for variant in variants]
    by_class = isinstance(outcome, OneClass | Classes)
    primary = ANY_CLASS if by_class else MAIN
    splits = {key for label in domain.labels for key in label.splits}
    return Specifications(
        path=(domain.folder or Path(domain.name)) / "domain.toml",
        outcome=outcome.name,
        kind=outcome.kind,
        frame=FrameNames(
            view=f"{schema}.{quoted(frame_name(outcome))}",
            designs=f"{schema}.designs",
            values=f"{schema}.design_values",
            groups="dimension",
            unit=unit_of(outcome),
            primary=primary,
            level=LEVEL if LEVEL in names else primary,
            error=ERROR,
            value_alias="value_en",
            dose_name=_dose_name(domain),
        ),
        codings=(_READ,),
        specifications=variants,
        metrics=Metrics(
            inconsistency=Metric("amount", "in_main"),
            mae=Metric("error", "in_main AND error IS NOT NULL"),
            mape=Metric("error_percent", "in_main AND error_percent IS NOT NULL"),
        ),
        inference=Inference(
            outcome="amount",
            sample="in_scope",
            rank="amount" if isinstance(outcome, Ordinal) else None,
            kind="kind" if isinstance(outcome, OneClass | Classes | Ordinal | YesNo) else None,
            truth=None if by_class else "true_amount",
            missing="missing_kind",
            declined="missing_kind = 'refused'",
            carrier="cluster",
            placebos=f"{schema}.{quoted(placebos_name(outcome))}",
            placebo_outcome="placebo_amount",
            demographic="demographic" if "demographic" in splits else None,
            role="role" if "role" in splits else None,
            codings=(CODING,),
            shares=_shares(outcome),
            sets=isinstance(outcome, Classes),
        ),
        report=report_texts(domain, outcome, {variant.name: variant.title for variant in variants}),
    )


def unit_of(outcome: Outcome) -> str:
    """What an outcome's effects are in, for people."""
    match outcome:
        case Amount():
            return outcome.unit
        case Ordinal():
            return STEPS
        case _:
            return POINTS


def _variants(outcome: Outcome) -> tuple[Specification, ...]:
    match outcome:
        case OneClass() | Classes():
            found = _by_class(outcome)
        case Amount(transform="log1p"):
            log = f"ln({outcome.unit} + 1)"
            found = [
                _variant(MAIN, "ln(amount + 1)", f"{log}: for amounts of very different size", title=log),
                _variant(
                    LEVEL,
                    "amount",
                    f"{outcome.unit} instead of their logarithm",
                    title=_capital(outcome.unit),
                ),
                _robust("ln(amount + 1)"),
            ]
        case Amount():
            found = [_variant(MAIN, "amount", f"{outcome.unit}, as answered", title=_capital(outcome.unit))]
            if outcome.minimum >= 0:
                log = f"ln({outcome.unit} + 1)"
                found.append(_variant(LOG, "ln(amount + 1)", f"{log} instead of {outcome.unit}", title=log))
            found.append(_robust("amount"))
        case Ordinal():
            found = [
                _variant(
                    MAIN, "amount", "the place of the answer in the order of classes, from 0", title="Steps"
                ),
                _robust("amount"),
            ]
        case YesNo():
            said = f"the share of answers “{outcome.yes}”, in percentage points"
            found = [_variant(MAIN, "amount", said, title=f"Share of “{outcome.yes}”"), _robust("amount")]
        case Probability():
            found = [
                _variant(MAIN, "amount", "the probability, in percentage points", title="Probability"),
                _robust("amount"),
            ]
    error = _variant(
        ERROR,
        "error",
        f"{_distance(outcome)}: whether the model errs more for some value (imbalanced error)",
        sample="in_main AND error IS NOT NULL",
        title="Distance from the truth",
    )
    return (*found, error)


def _by_class(outcome: OneClass | Classes) -> list[Specification]:
    holds = "answers that hold" if isinstance(outcome, Classes) else "answers"
    of_classes = [
        _variant(
            name,
            f"100.0 * CAST({is_class(outcome, one.name)} AS INTEGER)",
            f"the share of {holds} “{name_in(one.title, DEFAULT_LANGUAGE, one.name)}”, in percentage points",
            title=name_in(one.title, DEFAULT_LANGUAGE, one.name),
        )
        for name, one in zip(class_variants(outcome), outcome.classes, strict=True)
    ]
    joint = Specification(
        name=ANY_CLASS,
        outcome="amount",
        sample="in_main",
        treatment=DUMMIES,
        standard_error=_CLUSTERED,
        codings=(CODING,),
        description=f"of the {len(of_classes)} classes, the one with the smallest p, its p multiplied by "
        f"{len(of_classes)}",
        title="Class that moves most surely",
        smallest_of=tuple(variant.name for variant in of_classes),
    )
    return [joint, *of_classes]


def class_variants(outcome: OneClass | Classes) -> tuple[str, ...]:
    """The names of the variants that estimate the share of each class, in the order of the classes."""
    found: list[str] = []
    for name in outcome.names():
        plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        variant = f"class_{plain}" if plain else f"class_{len(found) + 1}"
        found.append(f"{variant}_{len(found) + 1}" if variant in found else variant)
    return tuple(found)


def _variant(
    name: str, outcome: str, description: str, *, title: str, sample: str = "in_main"
) -> Specification:
    return Specification(
        name=name,
        outcome=outcome,
        sample=sample,
        treatment=DUMMIES,
        standard_error=_CLUSTERED,
        codings=(CODING,),
        description=description,
        title=title,
    )


def _robust(outcome: str) -> Specification:
    said = "heteroskedasticity-robust standard errors instead of clustered ones"
    return replace(_variant(ROBUST, outcome, said, title="Robust errors"), standard_error="robust")


def _shares(outcome: Outcome) -> tuple[ClassShare, ...]:
    match outcome:
        case YesNo():
            return (ClassShare(outcome.yes, "amount / 100"),)
        case OneClass() | Classes() | Ordinal():
            return tuple(
                ClassShare(name, f"CAST({is_class(outcome, name)} AS INTEGER)") for name in outcome.names()
            )
        case _:
            return ()


def _distance(outcome: Outcome) -> str:
    match outcome:
        case Amount():
            return f"distance from the true amount in {outcome.unit}"
        case Probability():
            return "squared distance from the true probability (Brier score)"
        case Ordinal():
            return "distance from the true class in steps"
        case Classes():
            return "share of classes that are wrong, in per cent (Hamming loss)"
        case _:
            return "100 where the answer is wrong, 0 where it is right"


def _dose_name(domain: Domain) -> str:
    """What the one regressor of labels with a slope is called; several labels share the name."""
    slopes = [label for label in domain.labels if label.treatment != "categorical"]
    kinds = {label.treatment for label in slopes}
    inner = name_in(slopes[0].names, DEFAULT_LANGUAGE, slopes[0].key).lower() if len(slopes) == 1 else "value"
    return f"ln({inner})" if kinds == {"log"} else inner if kinds == {"linear"} else "dose"


def _own(domain: Domain) -> dict[str, Specifications]:
    """The specifications of the domain's folder, by outcome."""
    if domain.folder is None:
        return {}
    found: dict[str, Specifications] = {}
    for file in sorted(domain.folder.glob("specifications*.toml")):
        specs = load(file)
        about = file.name.removeprefix("specifications").removesuffix(".toml").removeprefix(".")
        known = [outcome.name for outcome in domain.outcomes]
        name = about or (specs.outcome if specs.outcome in known else known[0] if len(known) == 1 else "")
        if name not in known:
            said = f"an outcome '{name}', which {domain.name} does not have" if name else "no outcome by name"
            raise BadInput(
                f"{file} is about {said}.",
                hint=f'Begin it with outcome = "NAME"; the outcomes are: {", ".join(known)}.',
            )
        if name in found:
            raise BadInput(f"{file}: the outcome '{name}' has specifications in another file too.")
        found[name] = replace(specs, outcome=name, kind=domain.outcome(name).kind)
    return found


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
