"""Gates whose resamples nobody asked for by number take a quarter of those that a release is decided by."""

import pytest

from riskrank.studies.gate import evidence


@pytest.fixture(autouse=True, scope="module")
def fewer_resamples():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "_BEYOND_AN_END", evidence._BEYOND_AN_END / 4)
        patch.setattr(evidence, "_FEWEST_RESAMPLES", evidence._FEWEST_RESAMPLES // 4)
        yield
