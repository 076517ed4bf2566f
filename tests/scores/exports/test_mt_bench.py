"""FastChat's judgments: ratings by question and turn; a pair is won if both orders say so."""

import pytest

from riskrank.engine.portfolio.judge_votes import score_votes
from riskrank.errors import InputError, UsageError
from riskrank.scores.exports.judgments import mt_bench
from tests.scores.exports.helpers import assert_long, mean, only_reader_of, read, scores, write_lines


def rating(question, score, model="A", turn=1, judge="gpt-4"):
    prompt = "single-v1" if turn == 1 else "single-v1-multi-turn"
    return {
        "question_id": question,
        "model": model,
        "judge": [judge, prompt],
        "user_prompt": "…",
        "judgment": "[[…]]",
        "score": score,
        "turn": turn,
        "tstamp": 1.0,
    }


def game(question, first, second, *winners, turn=1):
    names = dict(zip(("g1_winner", "g2_winner"), winners, strict=True))
    return {"question_id": question, "model_1": first, "model_2": second, "turn": turn, **names} | {
        "judge": ["gpt-4", "pair-v2"]
    }


def test_ratings_by_question_and_turn(tmp_path):
    rows = [rating(81, 9), rating(81, 7.5, turn=2), rating(82, -1), rating(82, 4, turn=2)]
    path = write_lines(tmp_path / "gpt-4_single.jsonl", rows)
    assert only_reader_of(path) == "mt-bench"
    export = read("mt-bench", path)
    assert_long(export)
    assert scores(export, "turn") == {
        ("A", "81/1", "score", "1"): 9.0,
        ("A", "81/2", "score", "2"): 7.5,
        ("A", "82/1", "score", "1"): None,
        ("A", "82/2", "score", "2"): 4.0,
    }
    assert mean(export, turn="1") == 9.0
    assert any("-1" in note and note.endswith(": 1") for note in export.notes)
    assert export.directions == {"score": "higher"}


def test_a_judge_of_the_second_turn_says_so_in_its_prompt(tmp_path):
    second = rating(81, 3, turn=2)
    del second["turn"]
    export = read("mt-bench", write_lines(tmp_path / "a.jsonl", [rating(81, 9), second]))
    assert set(scores(export)) == {("A", "81/1", "score"), ("A", "81/2", "score")}


def test_of_several_judges_one_is_asked_for(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [rating(81, 9), rating(81, 2, judge="claude")])
    with pytest.raises(UsageError, match="several judges"):
        read("mt-bench", path)
    assert scores(read("mt-bench", path, filters=("claude",))) == {("A", "81/1", "score"): 2.0}


def test_a_judgment_made_twice_is_a_repeat(tmp_path):
    export = read("mt-bench", write_lines(tmp_path / "a.jsonl", [rating(81, 9), rating(81, 2)]))
    assert scores(export, "draw") == {("A", "81/1", "score", "1"): 9.0, ("A", "81/1", "score", "2"): 2.0}


def test_a_pair_is_won_if_both_orders_agree(tmp_path):
    rows = [
        game(1, "A", "B", "model_1", "model_1"),
        game(2, "A", "B", "model_1", "model_2"),
        game(3, "A", "B", "tie", "model_2"),
        game(4, "A", "B", "model_2", "model_2"),
        game(5, "A", "B", "error", "model_1"),
    ]
    path = write_lines(tmp_path / "gpt-4_pair.jsonl", rows)
    assert only_reader_of(path) == "mt-bench"
    export = read("mt-bench", path)
    assert_long(export)
    assert [scores(export)["A", f"{q}/1", "win_rate"] for q in (1, 2, 3, 4)] == [1.0, 0.5, 0.5, 0.0]
    assert export.rows.height == 8
    assert mean(export, model="A") + mean(export, model="B") == 1
    assert any(note.endswith("no winner of a game: 1") for note in export.notes)


def test_win_rates_over_opponents_are_the_verdict_scores_of_the_method(tmp_path):
    """Where every pair met, s = 4 (k − 1)(w − ½)."""
    models, outcome = "ABCD", {"AB": "model_1", "AC": "tie", "AD": "model_2", "BC": "model_2"}
    rows, verdicts = [], []
    for sample in ("7", "8"):
        for first in models:
            for second in models[models.index(first) + 1 :]:
                winner = outcome.get(first + second, "model_1" if sample == "7" else "tie")
                rows.append(game(sample, first, second, winner, winner))
                verdicts.append((f"{sample}/1", first, second, winner.replace("model_1", "a")))
    export = read("mt-bench", write_lines(tmp_path / "p.jsonl", rows))
    samples, first, second, given = zip(*verdicts, strict=True)
    expected = score_votes(samples, first, second, [v.replace("model_2", "b") for v in given])
    for at, sample in enumerate(expected.samples):
        for i, model in enumerate(expected.models):
            rate = scores(export)[model, sample, "win_rate"]
            assert expected.scores[at, i] == pytest.approx(4 * 3 * (rate - 0.5))
    assert not export.notes


def test_models_that_met_only_the_baseline(tmp_path):
    rows = [game(1, "A", "base", "model_1", "model_1"), game(1, "B", "base", "model_2", "model_2")]
    export = read("mt-bench", write_lines(tmp_path / "p.jsonl", rows))
    assert scores(export) == {
        ("A", "1/1", "win_rate"): 1.0,
        ("B", "1/1", "win_rate"): 0.0,
        ("base", "1/1", "win_rate"): 0.5,
    }
    assert any("2 of 3 pairs of models met" in note for note in export.notes)


def test_keys_of_forks(tmp_path):
    rows = [{"question_id": 1, "model1_id": "A", "model2_id": "B", "winner": "B", "judge": "gpt-4"}]
    export = read("mt-bench", write_lines(tmp_path / "p.jsonl", rows))
    assert scores(export) == {("A", "1/1", "win_rate"): 0.0, ("B", "1/1", "win_rate"): 1.0}


def test_an_unknown_winner_is_refused(tmp_path):
    path = write_lines(tmp_path / "p.jsonl", [game(1, "A", "B", "model_3", "model_1")])
    with pytest.raises(InputError, match=r"p.jsonl: entry 1: unknown verdict"):
        read("mt-bench", path)


def test_a_winner_without_models_is_no_pair(tmp_path):
    path = tmp_path / "judgments.jsonl"
    path.write_text('{"question_id": 1, "winner": "x", "judge": "j"}\n')
    assert not mt_bench.recognises(path)
    path.write_text('{"question_id": 1, "winner": "model_1", "model_1": "a", "model_2": "b"}\n')
    assert mt_bench.recognises(path)
