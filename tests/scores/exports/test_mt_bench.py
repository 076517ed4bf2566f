"""FastChat pairwise games: win rates over opponents equal the verdict scores."""

import pytest

from riskrank.engine.portfolio.judge_votes import score_votes
from tests.scores.exports.helpers import read, scores, write_lines


def test_win_rates_equal_verdict_scores(tmp_path):
    """With all pairs played, s = 4 (k − 1)(w − ½)."""
    models, outcome = "ABCD", {"AB": "model_1", "AC": "tie", "AD": "model_2", "BC": "model_2"}
    rows, verdicts = [], []
    for sample in ("7", "8"):
        for first in models:
            for second in models[models.index(first) + 1 :]:
                winner = outcome.get(first + second, "model_1" if sample == "7" else "tie")
                names = {"model_1": first, "model_2": second, "g1_winner": winner, "g2_winner": winner}
                rows.append({"question_id": sample, "turn": 1, "judge": ["gpt-4", "pair-v2"]} | names)
                verdicts.append((f"{sample}/1", first, second, winner.replace("model_1", "a")))
    export = read("mt-bench", write_lines(tmp_path / "p.jsonl", rows))
    samples, first, second, winners = zip(*verdicts, strict=True)
    expected = score_votes(samples, first, second, [v.replace("model_2", "b") for v in winners])
    for at, sample in enumerate(expected.samples):
        for i, model in enumerate(expected.models):
            rate = scores(export)[model, sample, "win_rate"]
            assert expected.scores[at, i] == pytest.approx(4 * 3 * (rate - 0.5))
    assert not export.notes
