"""The rows of results of one model and one attribute."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

import numpy as np

from analyze.groups import rows
from analyze.groups.class_rows import class_rows, rate_rows, worst_class_rows
from analyze.groups.data import Attribute, Bools, Floats, GroupData, Variant
from analyze.groups.disparity import average, lowest, summarize
from analyze.groups.gap_rows import gap_rows
from analyze.groups.inference.bootstrap import NO_INTERVAL, deviation, percentile
from analyze.groups.inference.excess import detectable_gd, excess_interval
from analyze.groups.inference.permutation import NullTest, against
from analyze.groups.inference.seeds import seed_variance
from analyze.groups.inference.strata import Null
from analyze.groups.inference.worst import WorstGroup, worst_group
from analyze.groups.rules import RULES, Rule
from analyze.groups.settings import Settings, known
from analyze.groups.view import View

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
            whole = _Results(View(data, attribute, predictions, kept, variant, settings))
            for place, one in enumerate(predictions):
                part.add(whole.results(one.seed, [place]))
            if averaged:
                part.add(whole.results(None, list(range(len(predictions)))))
        else:
            for one in predictions:
                alone = View(data, attribute, [one], one.answered, variant, settings)
                part.add(_Results(alone).results(one.seed, [0]))
            whole = _Results(View(data, attribute, predictions, everything, variant, settings))
            part.add(whole.results(None, list(range(len(predictions)))))
        found.add(part)
        if variant is Variant.ALL and complete and Variant.ANSWERED in settings.variants:
            found.add(part.as_variant(Variant.ANSWERED))
    return found


class _Results:
    """Turns a view into the rows of one seed, or of the mean over seeds."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.data, self.attribute, self.variant = view.data, view.attribute, view.variant
        self.model, self.seeds, self.settings = view.model, view.seeds, view.settings
        self.scores, self.shuffled = view.scores, view.shuffled

    def results(self, seed: int | None, places: list[int]) -> AttributeRows:
        """The rows of one seed, or (seed None) of the mean over the seeds at these places."""
        found = AttributeRows()
        for rule in RULES:
            self._rule(found, seed, places, rule)
        if len(places) == 1:
            found.class_scores.extend(class_rows(self.view, seed, places[0]))
            found.worst_classes.extend(worst_class_rows(self.view, seed, places[0]))
        else:
            self._seed_noise(found)
        found.rates.extend(rate_rows(self.view, seed, places))
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
        worst = self._worst(at, places, np.where(takes_part, averages, np.nan), drawn_averages)
        for group in range(len(attribute.groups)):
            found.group_scores.append(
                self._group_score(group, seed, places, rule, averages, drawn_averages, takes_part, worst)
            )
        found.disparities.append(
            self._disparity(seed, places, rule, used, averages, takes_part, drawn, tests, plain, worst)
        )
        if rule is self.data.rule:
            found.gaps.extend(gap_rows(self.view, seed, places, averages, drawn_averages, takes_part))

    def _tests(self, at: int, places: list[int], used: Floats) -> dict[Null, NullTest]:
        tests = {}
        for null, shuffled in self.shuffled.items():
            if shuffled is not None:
                drawn = shuffled.scores[at][:, places]
                test = against(used[:, self.view.eligible], drawn, shuffled.share_fixed)
                if test is not None:
                    tests[null] = test
        return tests

    def _worst(self, at: int, places: list[int], averages: Floats, drawn: Floats) -> WorstGroup | None:
        shuffled = self.shuffled.get(Null.PLAIN)
        if shuffled is None or not self.settings.bootstraps:
            return None
        gd = float(summarize(averages).gd)
        null = summarize(average(shuffled.scores[at][:, places], axis=1)).gd
        excess = float(np.sqrt(max(0.0, gd**2 - np.square(np.nan_to_num(null)).mean())))
        generator = self.settings.generator("worst", RULES[at], places, *self.view.key)
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
            generator = self.settings.generator("detectable", rule, places, *self.view.key)
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
