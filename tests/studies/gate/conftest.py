"""Gates use a quarter of the default number of resamples, unless a test sets it."""

import pytest

from riskrank.studies.gate import evidence


@pytest.fixture(autouse=True, scope="module")
def fewer_resamples():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "_TAIL_RESAMPLES", evidence._TAIL_RESAMPLES / 4)
        patch.setattr(evidence, "_MIN_RESAMPLES", evidence._MIN_RESAMPLES // 4)
        yield
