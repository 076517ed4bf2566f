"""What a reader must know before believing the verdicts of tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.tests import INSTEAD, DominanceTests
from riskrank.engine.sampling.design import ClusteredScores, weak_sizes
from riskrank.errors import option


def advice_on(
    scores: ClusteredScores, inference: Inference, tests: Sequence[DominanceTests]
) -> tuple[str, ...]:
    """Say what weakens the tests of a column, a sentence each."""
    advice = weak_sizes(scores)
    if inference.paper_exact:
        advice.append(
            f"{option('paper_exact', True)} divides the bootstrap standard error by √n once more, as the "
            "paper prints it: at a nominal 5 % this rejects true null hypotheses about half of the time"
        )
        return tuple(advice)
    undecided = sum(int(np.count_nonzero(~found.decided)) for found in tests)
    if any(found.of_means == INSTEAD for found in tests):
        advice.append(
            f"no resample of {min(scores.cluster_counts)} tasks can show dominance in a family of "
            f"{max(found.family for found in tests)} tests: the ranking's tests are Student's, of the macro "
            "means over tasks; more tasks would tell"
        )
    elif undecided and scores.unit == "tasks" and inference.resamples == "auto":
        advice.append(
            f"{undecided} of {sum(found.family for found in tests)} claims are not decided: no resample of "
            f"{min(scores.cluster_counts)} tasks can show p-values so small; more tasks would"
        )
    elif undecided:
        drawn, needed = 0, 0
        for found in tests:
            if found.resamples is not None and found.resamples_needed is not None:
                drawn = max(drawn, int(found.resamples.max()))
                needed = max(needed, int(found.resamples_needed.max()))
        all_tests = sum(found.family for found in tests)
        together = " of all tests together" if len(tests) > 1 else ""
        advice.append(
            f"{undecided} of {all_tests} claims{together} are not decided at {drawn:,} resamples, which "
            f"cannot show p-values so small: {option('resamples', _rounded_up(needed))} would decide them"
        )
    return tuple(advice)


def _rounded_up(number: int) -> int:
    """The next number with two significant digits."""
    unit = 10 ** max(len(str(number)) - 2, 0)
    return -(-number // unit) * unit
