"""How surprising a number of significant values is, if each were significant by chance alone.

The test of the paper: under the hypothesis that no value has an effect, each of n independent tests is
significant at tau with probability tau, so that the count is Binomial(n, tau). Values of one label, and
labels of one document, are not independent; `analyze.counts` gives the count's null distribution without
that assumption.
"""

from __future__ import annotations

import scipy

THRESHOLDS = (0.1, 0.05, 0.01)


def bernoulli_p(significant: int, trials: int, threshold: float) -> float:
    """P(X >= significant) for X ~ Binomial(trials, threshold); 1 where there was no trial."""
    return float(scipy.stats.binom.sf(significant - 1, trials, threshold)) if trials else 1.0
