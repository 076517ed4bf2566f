"""Invalid settings are refused before anything is read."""

import numpy as np
import pytest

from riskrank.errors import UsageError
from riskrank.studies.copa.options import CopaSettings
from riskrank.studies.gsd.options import GsdSettings
from riskrank.studies.gsd.study import thresholds
from riskrank.studies.mrm.options import MeanRiskSettings
from riskrank.studies.mrm.study import requested_risks
from riskrank.studies.portfolio.options import CombinationSettings
from riskrank.studies.power.options import PowerSettings
from riskrank.studies.power.study import build_claim

VALIDATORS = {GsdSettings: thresholds, MeanRiskSettings: requested_risks, PowerSettings: build_claim}
"""Functions that check settings after their construction."""

REFUSED = {
    CopaSettings: [
        ({"p": 0.5}, "p must be a number of at least 1"),
        ({"ties": "mean"}, "the choices are min, average, max"),
        ({"denominator": "N"}, "the choices are n-1, n"),
        ({"missing": "keep"}, "the choices are error, drop, worst"),
        ({"against": "sw"}, 'did you mean against="saw"'),
        ({"margin": "acc=-1"}, "must be at least 0"),
        ({"alpha": 1.5}, "must be above 0 and below 0.5"),
        ({"resamples": 5}, "must be at least 20"),
        ({"sweep": "acc", "margin": "acc=0.1"}, "margin has no effect on sweep"),
        ({"compare": True, "alpha": 0.1}, "alpha has no effect on compare"),
        ({"why": "a", "tasks": "random"}, "tasks has no effect on why"),
    ],
    CombinationSettings: [
        ({"level": 0.1}, "level needs summary=True"),
        ({"level": 0, "summary": True}, "above 0"),
        ({"level": 1.5, "summary": True}, "above 0"),
        ({"copula": "bogus"}, "copula"),
    ],
    GsdSettings: [
        ({"system": "pairs"}, 'did you mean system="pair"'),
        ({"resampling": "swaps"}, 'did you mean resampling="swap"'),
        ({"pairs": "none"}, "is not a valid choice"),
        ({"delta_on": "r2"}, "the choices are r1, r1+r2"),
        ({"correction": "holmes"}, 'did you mean correction="holm"'),
        ({"regularization": 0.5, "delta_on": "r1"}, "cannot be used together"),
        ({"no_test": True, "front_test": "A"}, 'no_test=True and front_test="A" cannot be used together'),
        ({"digits": "=3"}, "digits needs a whole number"),
        ({"tolerance": {"acc": -1}}, "tolerance needs a number above 0"),
        ({"resamples": 5}, "resamples must be at least 20"),
    ],
    MeanRiskSettings: [
        ({"risk": "tail"}, 'did you mean risk="gini-tail"'),
        ({"aggregate": "kemmeny"}, 'did you mean aggregate="kemeny"'),
        ({"level": 0}, "outside (0, 1]"),
        ({"level": np.nextafter(1, 2)}, "outside (0, 1]"),
        ({"level": "many"}, "level needs numbers"),
        ({"with_portfolio": True}, "needs per_metric=True"),
        ({"resamples": 19}, "at least 20"),
        ({"copula": "clayton"}, "copula"),
    ],
    PowerSettings: [
        ({"test": "both"}, "test"),
        ({"sizes": 10.5}, "sizes needs whole numbers"),
        ({"sizes": 5, "tasks": "random"}, "at least 6"),
        ({"sizes": (10, 20), "limit": 19}, "limit=19"),
        ({"target": 0}, "above 0 and below 1"),
        ({"paper_exact": True, "correction": "none"}, "cannot be used together"),
        ({"resamples": 19}, "at least 20"),
    ],
}


@pytest.mark.parametrize(
    ("kind", "options", "message"), [(kind, *case) for kind, cases in REFUSED.items() for case in cases]
)
def test_invalid_settings_are_refused(kind, options, message):
    with pytest.raises(UsageError) as error:
        VALIDATORS.get(kind, id)(kind(**options))
    assert message in str(error.value)
