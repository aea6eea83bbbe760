"""The rows of results of one model and one attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import combinations

import numpy as np

from analyze.groups import rows
from analyze.groups.data import Attribute, Bools, Floats, GroupData, Ints, Predictions, Variant
from analyze.groups.disparity import average, lowest, summarize
from analyze.groups.inference.bootstrap import NO_INTERVAL, deviation, percentile
from analyze.groups.inference.excess import detectable_gd, excess_interval
from analyze.groups.inference.permutation import NullTest, Shuffled, against, shuffle
from analyze.groups.inference.seeds import seed_variance
from analyze.groups.inference.strata import Null, permutation
from analyze.groups.inference.worst import WorstGroup, worst_group
from analyze.groups.rates import Rate, rates
from analyze.groups.rules import HITS, PREDICTED, SUPPORT, Rule, class_f1
from analyze.groups.scores import RULES, score
from analyze.groups.settings import Settings, known
from analyze.groups.worst_class import influence, worst_class

_DETECTABLE_ERRORS = 2.8015852
"""Standard errors that a gap must have to be found with 80% power at 5%: z(0.975) + z(0.8)."""
_POWER_DRAWS = 2_000


@dataclass(slots=True)
class AttributeRows:
    """What is found on one model and one attribute."""

    group_scores: list[rows.GroupScore] = field(default_factory=list)
    disparities: list[rows.Disparity] = field(default_factory=list)
    gaps: list[rows.Gap] = field(default_factory=list)
    rates: list[rows.GroupRates] = field(default_factory=list)
    class_scores: list[rows.ClassScore] = field(default_factory=list)
    worst_classes: list[rows.WorstClass] = field(default_factory=list)
    seed_noise: list[rows.SeedNoise] = field(default_factory=list)

    def add(self, other: AttributeRows) -> None:
        """Take in the rows of another."""
        for one in fields(self):
            getattr(self, one.name).extend(getattr(other, one.name))

    def as_variant(self, variant: Variant) -> AttributeRows:
        """The same rows under another variant, for models whose every row is answered."""
        return AttributeRows(
            **{
                one.name: [replace(row, variant=variant.value) for row in getattr(self, one.name)]
                for one in fields(self)
            }
        )


def attribute_rows(data: GroupData, model: str, attribute: Attribute, settings: Settings) -> AttributeRows:
    """All rows of a model and an attribute, every seed and their mean, every variant."""
    found = AttributeRows()
    predictions = data.of_model(model)
    everything = np.ones(len(data.truth), dtype=np.bool_)
    complete = all(one.answered.all() for one in predictions)
    averaged = predictions[0].seed is not None
    for variant in settings.variants:
        part = AttributeRows()
        if variant is Variant.ANSWERED and complete and Variant.ALL in settings.variants:
            continue
        if variant is Variant.ALL or complete or len(predictions) == 1:
            kept = everything if variant is Variant.ALL else predictions[0].answered | complete
            whole = _View(data, attribute, predictions, kept, variant, settings)
            for place, one in enumerate(predictions):
                part.add(whole.results(one.seed, [place]))
            if averaged:
                part.add(whole.results(None, list(range(len(predictions)))))
        else:
            for one in predictions:
                part.add(
                    _View(data, attribute, [one], one.answered, variant, settings).results(one.seed, [0])
                )
            whole = _View(data, attribute, predictions, everything, variant, settings)
            part.add(whole.results(None, list(range(len(predictions)))))
        found.add(part)
        if variant is Variant.ALL and complete and Variant.ANSWERED in settings.variants:
            found.add(part.as_variant(Variant.ANSWERED))
    return found


class _View:
    """The scores and draws of some rows, from which the rows of one seed or of the mean are taken."""

    def __init__(
        self,
        data: GroupData,
        attribute: Attribute,
        predictions: Sequence[Predictions],
        kept: Bools,
        variant: Variant,
        settings: Settings,
    ) -> None:
        self.data, self.attribute, self.variant, self.settings = data, attribute, variant, settings
        self.model = predictions[0].model
        self.seeds = [one.seed for one in predictions]
        self.key = (data.collection, self.model, attribute.name, variant, *self.seeds)
        generator = settings.generator("bootstrap", *self.key)
        self.scores = score(data, attribute, predictions, kept, variant, settings.bootstraps, generator)
        eligible = attribute.is_reported & (self.scores.n >= data.minimum_n).any(axis=0)
        self.eligible = np.flatnonzero(eligible)
        self.shuffled = {null: self._shuffle(null) for null in Null} if settings.permutations else {}

    def _shuffle(self, null: Null) -> Shuffled | None:
        """Shuffled scores of the eligible groups; None where fewer than two take part."""
        if len(self.eligible) < 2:
            return None
        place = np.full(len(self.attribute.groups), -1, dtype=np.int64)
        place[self.eligible] = np.arange(len(self.eligible))
        groups = place[self.scores.groups]
        inside = groups >= 0
        part = replace(
            self.scores.panel, rows=self.scores.panel.rows[inside], pattern=self.scores.panel.pattern[inside]
        )
        blocks = permutation(self.data, part, groups[inside], len(self.eligible), null)
        return shuffle(blocks, self.settings.permutations, self.settings.generator(null, *self.key))

    def results(self, seed: int | None, places: list[int]) -> AttributeRows:
        """The rows of one seed, or (seed None) of the mean over the seeds at these places."""
        found = AttributeRows()
        for rule in RULES:
            self._rule(found, seed, places, rule)
        if len(places) == 1:
            self._classes(found, seed, places[0])
        else:
            self._seed_noise(found)
        self._rates(found, seed, places)
        return found

    def _rule(self, found: AttributeRows, seed: int | None, places: list[int], rule: Rule) -> None:
        scores, attribute = self.scores, self.attribute
        at = RULES.index(rule)
        compared = scores.compared(attribute, self.data.minimum_n, rule)[places]
        own = scores.by_rule[at][places]
        used = np.where(compared, own, np.nan)
        averages = average(own, axis=0)
        takes_part: Bools = np.asarray(compared.any(axis=0))
        drawn = scores.drawn[at][:, places]
        drawn_averages = average(drawn, axis=1)
        tests = self._tests(at, places, used)
        plain = tests.get(Null.PLAIN)
        worst = self._worst(at, places, np.where(takes_part, averages, np.nan), drawn_averages, seed)
        for group in range(len(attribute.groups)):
            found.group_scores.append(
                self._group_score(group, seed, places, rule, averages, drawn_averages, takes_part, worst)
            )
        found.disparities.append(
            self._disparity(seed, places, rule, used, averages, takes_part, drawn, tests, plain, worst)
        )
        if rule is self.data.rule:
            found.gaps.extend(self._gaps(seed, places, rule, averages, drawn_averages, takes_part))

    def _tests(self, at: int, places: list[int], used: Floats) -> dict[Null, NullTest]:
        tests = {}
        for null, shuffled in self.shuffled.items():
            if shuffled is not None:
                test = against(used[:, self.eligible], shuffled.scores[at][:, places], shuffled.share_fixed)
                if test is not None:
                    tests[null] = test
        return tests

    def _worst(
        self, at: int, places: list[int], averages: Floats, drawn: Floats, seed: int | None
    ) -> WorstGroup | None:
        shuffled = self.shuffled.get(Null.PLAIN)
        if shuffled is None or not self.settings.bootstraps:
            return None
        gd = float(summarize(averages).gd)
        null = summarize(average(shuffled.scores[at][:, places], axis=1)).gd
        excess = float(np.sqrt(max(0.0, gd**2 - np.square(np.nan_to_num(null)).mean())))
        generator = self.settings.generator("worst", RULES[at], seed, *self.key)
        return worst_group(averages, drawn, excess, generator)

    def _group_score(
        self,
        group: int,
        seed: int | None,
        places: list[int],
        rule: Rule,
        averages: Floats,
        drawn: Floats,
        takes_part: Bools,
        worst: WorstGroup | None,
    ) -> rows.GroupScore:
        scores, at = self.scores, RULES.index(rule)
        there = not np.isnan(averages[group])
        interval = percentile(drawn[:, group]) if there else NO_INTERVAL
        train = self.data.splits.get("train")
        reweighted = (
            None if scores.reweighted is None else known(average(scores.reweighted[at][places, group]))
        )
        return rows.GroupScore(
            collection=self.data.collection,
            model=self.model,
            seed=seed,
            split=self.data.split,
            attribute=self.attribute.name,
            group_name=self.attribute.groups[group],
            group_code=group,
            variant=self.variant.value,
            rule=rule.value,
            n=int(scores.n[places, group].min()),
            n_train=None
            if train is None
            else int(np.count_nonzero(train.groups[self.attribute.name] == group)),
            score=known(averages[group]),
            ci_low=interval.low,
            ci_high=interval.high,
            se=deviation(drawn[:, group]) if there else None,
            is_default=rule is self.data.rule,
            reported=bool(self.attribute.is_reported[group]),
            compared=bool(takes_part[group]),
            n_seeds=int(np.count_nonzero(~np.isnan(scores.by_rule[at][places, group]))),
            micro_f1=known(average(scores.micro[places, group])),
            accuracy=known(average(scores.accuracy[places, group])),
            reweighted=reweighted,
            probability_worst=None if worst is None else known(worst.probability[group]),
        )

    def _disparity(
        self,
        seed: int | None,
        places: list[int],
        rule: Rule,
        used: Floats,
        averages: Floats,
        takes_part: Bools,
        drawn: Floats,
        tests: dict[Null, NullTest],
        plain: NullTest | None,
        worst: WorstGroup | None,
    ) -> rows.Disparity:
        per_seed = summarize(used)
        common = np.where(takes_part, averages, np.nan)
        of_averages = summarize(common)
        worst_place = lowest(common)
        within = tests.get(Null.WITHIN_LABEL)
        gd = known(average(per_seed.gd))
        several = int(takes_part.sum()) > 1
        interval, detectable = NO_INTERVAL, None
        shuffled = self.shuffled.get(Null.PLAIN)
        if plain is not None and shuffled is not None and several:
            at = RULES.index(rule)
            if self.settings.bootstraps:
                interval = excess_interval(used[:, takes_part], drawn[:, :, takes_part], plain.p)
            generator = self.settings.generator("detectable", rule, seed, *self.key)
            detectable = detectable_gd(shuffled.scores[at][:_POWER_DRAWS, places], generator)
        reweighted = None
        if self.scores.reweighted is not None:
            weighted = np.where(np.isnan(used), np.nan, self.scores.reweighted[RULES.index(rule)][places])
            reweighted = known(average(summarize(weighted).gd))
        mean = seed is None and self.seeds[0] is not None
        return rows.Disparity(
            collection=self.data.collection,
            model=self.model,
            seed=seed,
            attribute=self.attribute.name,
            variant=self.variant.value,
            rule=rule.value,
            is_default=rule is self.data.rule,
            n_groups=int(takes_part.sum()),
            mean_score=known(average(per_seed.mean)),
            gd=gd,
            worst_score=known(average(per_seed.worst)),
            worst_group=None if worst_place is None else self.attribute.groups[worst_place],
            gd_floor=None if plain is None else plain.floor,
            gd_floor_rms=None if plain is None else plain.floor_rms,
            gd_floor_95=None if plain is None else plain.floor_95,
            gd_excess=None if plain is None or gd is None else plain.excess(gd),
            excess_low=interval.low,
            excess_high=interval.high,
            detectable_gd=detectable,
            p_plain=None if plain is None else plain.p,
            p_within_label=None if within is None else within.p,
            p_worst=None if plain is None else plain.p_worst,
            p_worst_within_label=None if within is None else within.p_worst,
            p_plain_holm=None,
            p_within_label_holm=None,
            p_worst_holm=None,
            p_worst_within_label_holm=None,
            worst_floor=None if plain is None else plain.worst_floor,
            worst_corrected=None if worst is None else worst.corrected,
            share_fixed=None if within is None else within.share_fixed,
            gd_reweighted=reweighted,
            mean_of_averages=known(of_averages.mean) if mean else None,
            gd_of_averages=known(of_averages.gd) if mean else None,
            worst_of_averages=known(of_averages.worst) if mean else None,
            draws=0 if plain is None else plain.draws,
        )

    def _gaps(
        self,
        seed: int | None,
        places: list[int],
        rule: Rule,
        averages: Floats,
        drawn: Floats,
        takes_part: Bools,
    ) -> list[rows.Gap]:
        found = []
        weighted = drawn_weighted = None
        if self.scores.reweighted is not None and self.scores.drawn_reweighted is not None:
            weighted = average(self.scores.reweighted[RULES.index(rule)][places], axis=0)
            drawn_weighted = average(self.scores.drawn_reweighted[:, places], axis=1)
        for one, other in combinations(np.flatnonzero(takes_part).tolist(), 2):
            gap = float(averages[one] - averages[other])
            draws = drawn[:, one] - drawn[:, other]
            interval, error = percentile(draws), deviation(draws)
            behaviour = None
            shift_interval = behaviour_interval = NO_INTERVAL
            if weighted is not None and drawn_weighted is not None:
                behaviour = float(weighted[one] - weighted[other])
                behaviour_draws = drawn_weighted[:, one] - drawn_weighted[:, other]
                behaviour_interval = percentile(behaviour_draws)
                shift_interval = percentile(draws - behaviour_draws)
            found.append(
                rows.Gap(
                    collection=self.data.collection,
                    model=self.model,
                    seed=seed,
                    attribute=self.attribute.name,
                    variant=self.variant.value,
                    rule=rule.value,
                    first=self.attribute.groups[one],
                    second=self.attribute.groups[other],
                    gap=gap,
                    ci_low=interval.low,
                    ci_high=interval.high,
                    se=error,
                    detectable=None if error is None else _DETECTABLE_ERRORS * error,
                    label_shift=None if behaviour is None else gap - behaviour,
                    label_shift_low=shift_interval.low,
                    label_shift_high=shift_interval.high,
                    behaviour=behaviour,
                    behaviour_low=behaviour_interval.low,
                    behaviour_high=behaviour_interval.high,
                )
            )
        return found

    def _classes(self, found: AttributeRows, seed: int | None, place: int) -> None:
        counts = self.scores.counts[place]
        names = self.data.classes.columns
        pooled = counts[self.attribute.is_reported].sum(axis=0)
        common = worst_class(pooled)
        key = (self.data.collection, self.model, seed, self.variant.value, self.attribute.name)
        for group in self.attribute.reported:
            own = worst_class(counts[group])
            n = int(self.scores.n[place, group])
            found.worst_classes.append(
                rows.WorstClass(
                    *key,
                    self.attribute.groups[group],
                    None if common is None else names[common],
                    influence(counts[group], n, common),
                    None if own is None else names[own],
                    influence(counts[group], n, own),
                )
            )
        named = [(self.attribute.groups[group], counts[group]) for group in range(len(counts))]
        for name, table in [(None, pooled), *named]:
            f1 = class_f1(table)
            for place_of_class, class_name in enumerate(names):
                column = table[:, place_of_class]
                found.class_scores.append(
                    rows.ClassScore(
                        *key,
                        name,
                        class_name,
                        int(column[HITS]),
                        int(column[PREDICTED]),
                        int(column[SUPPORT]),
                        float(f1[place_of_class]),
                    )
                )

    def _rates(self, found: AttributeRows, seed: int | None, places: list[int]) -> None:
        positive, cells = self.data.classes.positive, self.scores.cells
        if positive is None or cells is None:
            return
        may_be_best = self.attribute.is_reported & (self.scores.n[places].min(axis=0) >= self.data.minimum_n)
        inflation = self._design_effect()
        of_seeds = [rates(cells[place], positive, may_be_best, inflation) for place in places]
        alone = len(places) == 1
        for group, name in enumerate(self.attribute.groups):
            own = [of_seed[group] for of_seed in of_seeds]
            selection = _averaged([one.selection for one in own])
            true = _averaged([one.true_positive for one in own])
            false = _averaged([one.false_positive for one in own])
            ratios = [one.ratio for one in own if one.ratio is not None]
            found.rates.append(
                rows.GroupRates(
                    self.data.collection,
                    self.model,
                    seed,
                    self.attribute.name,
                    name,
                    self.variant.value,
                    int(self.scores.n[places, group].min()),
                    *selection,
                    *true,
                    *false,
                    float(np.mean(ratios)) if ratios else None,
                    own[0].ratio_low if alone else None,
                    own[0].ratio_high if alone else None,
                )
            )

    def _design_effect(self) -> Floats | None:
        """Each group's sum of squared case sizes over the sum of case sizes; None without cases."""
        if self.data.cluster is None:
            return None
        cases: Ints = self.data.cluster[self.scores.panel.rows]
        factor = np.ones(len(self.attribute.groups))
        for group in range(len(factor)):
            sizes = np.unique(cases[self.scores.groups == group], return_counts=True)[1]
            if len(sizes):
                factor[group] = np.square(sizes).sum() / sizes.sum()
        return factor

    def _seed_noise(self, found: AttributeRows) -> None:
        if not self.settings.bootstraps or len(self.seeds) < 2:
            return
        rule = self.data.rule
        at = RULES.index(rule)
        compared = self.scores.compared(self.attribute, self.data.minimum_n, rule)
        used = np.where(compared, self.scores.by_rule[at], np.nan)
        drawn = np.where(compared, self.scores.drawn[at], np.nan)
        columns: list[tuple[str | None, Floats, Floats]] = [
            (self.attribute.groups[group], used[:, group], drawn[:, :, group])
            for group in np.flatnonzero(compared.any(axis=0)).tolist()
        ]
        columns.append((None, average(used), average(drawn)))
        for name, values, draws in columns:
            noise = seed_variance(values, draws)
            if noise is not None:
                found.seed_noise.append(
                    rows.SeedNoise(
                        self.data.collection,
                        self.model,
                        self.attribute.name,
                        self.variant.value,
                        rule.value,
                        name,
                        noise.seeds,
                        noise.training_sd,
                        noise.test_sd,
                        noise.total_se,
                    )
                )


def _averaged(of_seeds: Sequence[Rate]) -> tuple[float | None, float | None, float | None]:
    """The mean of a rate over seeds; its interval for one seed only."""
    values = [one.value for one in of_seeds if one.value is not None]
    if len(of_seeds) == 1:
        return of_seeds[0].value, of_seeds[0].low, of_seeds[0].high
    return (float(np.mean(values)) if values else None), None, None
