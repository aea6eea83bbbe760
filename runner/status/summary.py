"""How a run ended, in sentences that say what is missing, why, and how to go on."""

from __future__ import annotations

import math
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from runner.lifecycle.options import RunSummary
from runner.lifecycle.stopping import Reason, Stop
from store.rows import FAILURE_OUTCOMES, PREDICTION_OUTCOMES

if TYPE_CHECKING:
    from store.study import Study

State = Literal["finished", "interrupted", "failed"]

GO_ON = "Run the same command again to resume."
_SHOWN_MODELS = 3
_LEAST_USD = 0.00005
"""Less is shown as nothing."""


def summarise(run_id: uuid.UUID, stop: Stop, last: Mapping[str, Any], beyond: int = 0) -> RunSummary:
    """The summary of a run whose last snapshot is `last`; `beyond` its limit, so many are still to ask."""
    models = last["models"]
    pending = sum(model["total"] - model["done"] for model in models)
    failures = [model["failure"] for model in models if model["failure"]]
    state: State = "finished"
    stopped_by: Reason = stop.reason
    if failures:
        state, stopped_by = "failed", stopped_by or "failure"
        message = " ".join(f"{failure}." for failure in failures) + f" {GO_ON}"
    elif stop.reason:
        state, message = "interrupted", f"{stop.message} {GO_ON}" if stop.goes_on else stop.message
        if stop.reason == "cost" and last.get("unpriced"):
            message += " Answers of unknown cost were counted at the most that each may have cost."
    elif pending:
        state, stopped_by, message = "failed", "failure", f"{pending:,} queries were not asked. {GO_ON}"
    else:
        message = all_asked(beyond, models)
    if stopped_by != "signal" and any(map(in_vain, models)):
        state, stopped_by = "failed", "failure"
    return RunSummary(
        run_id=run_id,
        state=state,
        message=" ".join([message, *given_up(models)]),
        counts=counts(models),
        pending=pending,
        beyond=beyond,
        seconds=last["seconds"],
        cost_usd=last["cost_usd"] or 0.0,
        status=last,
        stopped_by=stopped_by,
        warnings=warnings(models),
    )


def all_asked(beyond: int, models: Sequence[Mapping[str, Any]]) -> str:
    """That nothing is left of what was selected."""
    if beyond:
        return f"Limit reached. {_beyond(beyond)}"
    return "Every query was asked." if given_up(models) else "Done: every query has an answer."


def _beyond(beyond: int) -> str:
    return (
        f"{beyond:,} more queries are pending. --limit counts answered queries too: raise it, or leave it "
        "out."
    )


def counts(models: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Stored rows by outcome, over all models."""
    found: Counter[str] = Counter()
    for model in models:
        found.update(model["outcomes"])
    return dict(found)


def in_vain(model: Mapping[str, Any]) -> bool:
    """Whether queries of this model were given up, and none was answered."""
    outcomes = model["outcomes"]
    return any(map(outcomes.get, FAILURE_OUTCOMES)) and not any(map(outcomes.get, PREDICTION_OUTCOMES))


def given_up(models: Sequence[Mapping[str, Any]]) -> list[str]:
    """What was given up, model by model: how many, why, and how to ask again."""
    sentences = []
    retry: dict[str, None] = {}
    for model in models:
        found = {name: model["outcomes"][name] for name in FAILURE_OUTCOMES if model["outcomes"].get(name)}
        if not found:
            continue
        retry.update(dict.fromkeys(found))
        nothing = "no query was answered, " if in_vain(model) else ""
        sentences.append(f"{model['model']}: {nothing}{_given_up(found)}{_why(model, sum(found.values()))}.")
    return [*sentences, _ask_again(retry)] if sentences else []


def _given_up(found: Mapping[str, int]) -> str:
    total = sum(found.values())
    kinds = ", ".join(f"{count:,} {name}" for name, count in found.items())
    return f"{total:,} {'was' if total == 1 else 'were'} given up ({kinds})"


def _why(model: Mapping[str, Any], total: int) -> str:
    reasons = model.get("given_up") or []
    if not reasons:
        return ""
    first = reasons[0]
    often = "" if first["count"] == total else f"{first['count']:,} of them with "
    return f": {often}{first['reason'].rstrip('.')}"


def reasons(model: Mapping[str, Any]) -> list[str]:
    """Why queries of this model were given up, a line for each of the commonest reasons."""
    return [f"{one['count']:,} {one['outcome']}: {one['reason']}" for one in model.get("given_up") or []]


def _ask_again(outcomes: Mapping[str, Any]) -> str:
    return f"To ask them again, add `--retry {','.join(outcomes)}`."


def warnings(models: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What is not as it should be: answers of other models or of unknown end, costs unknown or in vain."""
    tellers = (
        answered_by_others,
        without_finish_reason,
        unreached,
        replicas_left,
        _not_all_the_cost,
        paid_in_vain,
    )
    found = [tell(model) for model in models for tell in tellers]
    return tuple(warning for warning in found if warning)


def replicas_left(model: Mapping[str, Any]) -> str:
    """Which replicas were not asked any more, and why; empty where all were."""
    lanes = model.get("lanes", ())
    return " ".join(f"No longer used: {lane['parked']}." for lane in lanes if _is_left(lane))


def _is_left(lane: Mapping[str, Any]) -> bool:
    return bool(lane.get("is_replica") and lane["parked"] and not lane.get("unreached"))


def unreached(model: Mapping[str, Any]) -> str:
    """Which of a model's providers never answered, and why; empty where that is why the model failed."""
    if model.get("failure"):
        return ""
    lanes = [lane for lane in model.get("lanes") or [] if lane.get("unreached")]
    return " ".join(f"No answer from {lane['lane']}: {lane['unreached']}." for lane in lanes)


def cost_unknown(costs: Mapping[str, Any]) -> str:
    """Of how many answers the cost is not known; empty where it is known of all, or nothing has a price."""
    count = costs.get("unpriced") or 0
    return f"cost of {count:,} answer{'' if count == 1 else 's'} unknown" if count else ""


def _not_all_the_cost(model: Mapping[str, Any]) -> str:
    """That the cost of a model is not all of it; empty where it is."""
    if not model.get("unpriced"):
        return ""
    known = model.get("cost_usd")
    others = "" if known is None else f"; the others cost {dollars(known)}"
    why = "because they came without token counts or a price, or with an impossible cost"
    return f"{model['model']}: {cost_unknown(model)}, {why}{others}."


def paid_in_vain(model: Mapping[str, Any]) -> str:
    """How much went to tries that gave no answer, or may have; empty where nothing did."""
    failed, assumed = model.get("failed_usd") or 0.0, model.get("assumed_usd") or 0.0
    parts = []
    if failed >= _LEAST_USD:
        parts.append(f"{dollars(failed)} of the cost was spent on requests that gave no answer")
    if assumed >= _LEAST_USD:
        beyond = "beyond that, " if parts else ""
        parts.append(
            f"{beyond}up to {dollars(assumed)} may have been charged for requests that report no cost; "
            "this counts towards the cost limits"
        )
    return f"{model['model']}: {'; '.join(parts)}." if parts else ""


def dollars(amount: float, digits: int = 4) -> str:
    """An amount of money for people; digits that nobody reads are left out."""
    if not math.isfinite(amount):
        return "unknown"
    if amount >= 1e9:
        return f"${amount:.3g}"
    return f"${amount:,.{digits if amount < 1000 else 0}f}"


def answered_by_others(model: Mapping[str, Any]) -> str:
    """Which other models answered in the place of this one; empty where none did."""
    others = model.get("other_models") or {}
    if not others:
        return ""
    listed = list(others.items())
    shown = ", ".join(f"{name} {_times(count)}" for name, count in listed[:_SHOWN_MODELS])
    more = f" and {len(listed) - _SHOWN_MODELS} other names" if len(listed) > _SHOWN_MODELS else ""
    asked = " or ".join(model["asked_as"])
    return (
        f"{model['model']}: asked for {asked}, but answered by {shown}{more}. The answers are stored under "
        "that name (returned_model). To exclude them, use `evenhand runs --set-aside RUN`."
    )


def without_finish_reason(model: Mapping[str, Any]) -> str:
    """Which of a model's providers never say how an answer ended; empty where all do."""
    lanes = model.get("lanes", ())
    return " ".join(unexplained(lane["lane"], lane) for lane in lanes if lane.get("unexplained"))


def unexplained(name: str, endings: Mapping[str, Any]) -> str:
    """That no answer of the lane of this name has a known finish reason, and what to do about it."""
    count, word = endings["unexplained"], endings.get("unexplained_as")
    lacks = "without a finish reason" if word is None else f"with an unknown finish reason (last: {word!r})"
    came = "the only answer" if count == 1 else f"all {count:,} answers"
    return (
        f"{name}: {came} came {lacks}, so nothing says that an answer is complete: all are stored as "
        'truncated. Set up the server, or the gateway before it, to state finish_reason ("stop" where an '
        "answer is complete); then `--retry truncated` asks these queries again."
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def nothing_to_ask(study: Study, model_keys: Sequence[str], selected: int, beyond: int = 0) -> RunSummary:
    """The summary where all has been asked before: failed where a model has only queries given up."""
    within, more = (" within the limit", f" {_beyond(beyond)}") if beyond else ("", "")
    by_model: dict[str, Counter[str]] = {key: Counter() for key in model_keys}
    rows = study.connection.execute(
        "SELECT model_key, outcome, count(*) FROM latest WHERE list_contains(?, model_key) GROUP BY ALL",
        [list(model_keys)],
    ).fetchall()
    for model_key, outcome, count in rows:
        by_model[model_key][outcome] = count
    total: Counter[str] = sum(by_model.values(), Counter())
    found = {name: total[name] for name in FAILURE_OUTCOMES if total[name]}
    if not found:
        message = f"Nothing to ask: all {selected:,} queries{within} have an answer.{more}"
        return RunSummary(None, "finished", message, beyond=beyond)
    (reason,) = study.connection.execute(
        "SELECT max_by(reason, created_at) FROM failures WHERE list_contains(?, model_key)",
        [list(model_keys)],
    ).fetchall()[0]
    message = (
        f"Nothing to ask: all {selected:,} queries{within} have been asked. {_given_up(found)}; the last "
        f"reason: {reason.rstrip('.')}. {_ask_again(found)}{more}"
    )
    failed = any(in_vain({"outcomes": outcomes}) for outcomes in by_model.values())
    return RunSummary(
        None,
        "failed" if failed else "finished",
        message,
        beyond=beyond,
        stopped_by="failure" if failed else "",
    )
