"""``riskrank mrm`` on the command line."""

import numpy as np

from tests.tables import long_table


def test_the_table_notes_a_contradicting_standard_deviation(run, write):

    # "wide" is better everywhere, yet its spread costs it more than its mean gains.
    steady = np.linspace(0, 1, 40)
    wide = steady + np.where(steady > 0.9, 9.0, 0.01)
    frame = long_table({"steady": steady, "wide": wide}, "x", str)
    text = " ".join(
        run("mrm", write("t.csv", frame), "--higher", "x", "--no-test", "--explain").stdout.split()
    )
    assert "ranks steady above wide; every consistent risk measure ranks them the other way" in text
