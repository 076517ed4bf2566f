"""Tables read without options: the layout is recognised and reported in one line."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, UsageError
from riskrank.options.reading import RankReading, ReadOptions
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.score_table import read_scores

RNG = np.random.default_rng(32)
N = 24


def crossed(**levels):
    """Return a row with a random score for every combination."""
    frame = pl.DataFrame({"row": [0]})
    for name, values in levels.items():
        frame = frame.join(pl.DataFrame({name: values}), how="cross")
    return frame.drop("row").with_columns(note=pl.lit("x"), rate=pl.Series(RNG.random(frame.height).round(3)))


def read(frame, **options):
    return read_scores([FrameSource(frame)], ReadOptions(**options))


def reading_note(table):
    return next(text for text in table.warnings if text.startswith("Read as "))


QUESTIONS = [f"q{at}" for at in range(N)]
TABLES = {
    "wide": (crossed(System=["a", "b"], Frage=QUESTIONS).rename({"rate": "f1"}), "a wide table", ("f1",), N),
    "long": (
        crossed(algorithm=["a", "b"], item=QUESTIONS, criterion=["x", "y"]).rename({"rate": "value"}),
        "a long table",
        ("x", "y"),
        N,
    ),
    "matrix": (
        pl.DataFrame({"ticket": QUESTIONS, "gpt": RNG.random(N), "claude": RNG.random(N)}),
        "a matrix: one row per sample (ticket)",
        ("score",),
        N,
    ),
    "leaderboard": (
        pl.DataFrame({"model": ["a", "b", "c"], **{f"task{at}": RNG.random(3) for at in range(12)}}),
        "a leaderboard",
        ("score",),
        12,
    ),
    "runs": (
        crossed(agent=["a", "b"], task=QUESTIONS, attempt=[1, 2, 3]).rename({"rate": "f1"}),
        "repeats of each task",
        ("f1",),
        N,
    ),
    "seeds": (
        crossed(arch=["a", "b"], seed=[*range(N)])
        .rename({"rate": "f1"})
        .with_columns(Name=pl.format("run-{}", pl.int_range(2 * N)), Created=pl.int_range(2 * N) // 2),
        "sample (seed)",
        ("f1",),
        N,
    ),
    "settings": (
        crossed(llm=["a", "b"], prompt=QUESTIONS, temperature=[0.0, 0.7]).rename({"rate": "f1"}),
        "averaged over temperature",
        ("f1",),
        N,
    ),
    "sessions": (
        crossed(bot=["a", "b"], session=QUESTIONS, turn=[1, 2, 3]).rename({"rate": "rating"}),
        "each session is a cluster, resampled as a unit",
        ("rating",),
        3 * N,
    ),
    "sessions of a matrix": (
        crossed(session=QUESTIONS, turn=[1, 2, 3])
        .with_columns(a=pl.Series(RNG.random(3 * N)), b=pl.Series(RNG.random(3 * N)))
        .drop("rate", "note"),
        "each session is a cluster, resampled as a unit",
        ("score",),
        3 * N,
    ),
    "a row a seed": (
        crossed(agent=["a", "b"], seed=[*range(N)]).rename({"rate": "return"}),
        "each seed is a sample",
        ("return",),
        N,
    ),
    "joined to tags": (
        crossed(bot=["a", "b"], ticket=QUESTIONS)
        .rename({"rate": "f1"})
        .join(pl.DataFrame({"tag": ["x", "y", "z"]}), how="cross")
        .filter(pl.int_range(6 * N) % 7 > 0),
        "duplicates: the same scores for every tag",
        ("f1",),
        N,
    ),
    "graders beside the truth": (
        crossed(grader=["a", "b"], essay=QUESTIONS)
        .with_columns(teacher_score=pl.col("essay").str.len_chars(), predicted_score=pl.int_range(2 * N) % 9)
        .rename({"rate": "abs_error"}),
        "ignored: predicted_score (a prediction); teacher_score (the same for all models)",
        ("abs_error",),
        N,
    ),
    "settings of models": (
        crossed(run=["a", "b"], example=QUESTIONS)
        .with_columns(alpha=(pl.col("run") == "a") * 16 + 16, cost_usd=(pl.col("run") == "a") * 2.5 + 1)
        .rename({"rate": "f1"}),
        "ignored: alpha (a model setting)",
        ("f1", "cost_usd"),
        N,
    ),
    "error rates of data sets": (
        pl.DataFrame({"model": ["a", "b", "c"]}).with_columns(
            pl.Series(f"set{of} WER", RNG.random(3)) for of in "abcdefghi"
        ),
        "a leaderboard",
        ("wer",),
        9,
    ),
    "paths of models": (
        crossed(model_name_or_path=["a", "b"], instance_id=QUESTIONS).rename({"rate": "resolved"}),
        "one row per model (model_name_or_path)",
        ("resolved",),
        N,
    ),
    "prompts of one model": (
        crossed(model=["m"], variant=["a", "b"], question=QUESTIONS).rename({"rate": "f1"}),
        "one row per model (variant)",
        ("f1",),
        N,
    ),
    "raters of a matrix": (
        crossed(rater=["r1", "r2"], item=QUESTIONS)
        .with_columns(pl.Series(name, RNG.integers(1, 5, 2 * N)) for name in ("system_x", "system_y"))
        .drop("rate", "note"),
        "averaged over rater",
        ("score",),
        N,
    ),
    "thousands": (
        crossed(engine=["a", "b"], query=QUESTIONS).with_columns(
            rate=pl.format("{},{}.50", pl.int_range(1, 2 * N + 1), pl.int_range(100, 2 * N + 100))
        ).rename({"rate": "latency_ms"}),
        "one column per metric (latency_ms)",
        ("latency_ms",),
        N,
    ),
    "units": (
        crossed(engine=["a", "b"], query=QUESTIONS)
        .with_columns(latency=pl.format("{}s", "rate"))
        .drop("rate"),
        "one column per metric (latency)",
        ("latency",),
        N,
    ),
    "copies": (
        pl.concat([crossed(pipeline=["a", "b"], example=QUESTIONS).rename({"rate": "f1"})] * 3),
        "each row occurs 3 times and is used once",
        ("f1",),
        N,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", TABLES)
def test_table_layout_is_recognised(kind):
    frame, words, metrics, samples = TABLES[kind]
    table = read(frame.sample(fraction=1, shuffle=True, seed=3) if kind != "matrix" else frame)
    assert words in reading_note(table)
    assert (tuple(spec.name for spec in table.metrics), len(table.samples)) == (metrics, samples)
    assert len(table.models) in (2, 3)


def test_interpretation_is_reported_as_options(tmp_path):
    """The reported options read the same table."""
    frame = TABLES["runs"][0]
    options = read(frame).options
    assert (options.columns, options.wide, options.repeats) == (
        "model=agent,sample=task,draw=attempt",
        True,
        "draws",
    )
    reread = read(frame, columns=options.columns, wide=True, repeats="draws")
    assert reread.models == read(frame).models
    assert not any(text.startswith("Read as ") for text in reread.warnings)


def test_bookkeeping_columns_are_excluded_unless_selected():
    frame = crossed(model=["a", "b"], sample=QUESTIONS).rename({"rate": "f1"})
    numbers = {"tokens": 120, "seed": 7, "learning_rate": 0.1, "duration": 3, "sample_id": 5}
    frame = frame.with_columns(
        *(pl.Series(name, at + RNG.integers(0, 9, 2 * N)) for name, at in numbers.items())
    )
    table = read(frame)
    assert [spec.name for spec in table.metrics] == ["f1"]
    assert "tokens" in reading_note(table)
    assert "a duration" in reading_note(table)
    selected = read(frame, metric=("f1", "tokens"))
    assert [spec.name for spec in selected.metrics] == ["f1", "tokens"]


@pytest.mark.parametrize(("name", "reason"), [("difficulty", "a property of samples")])
def test_auxiliary_columns_of_a_matrix_are_excluded(name, reason):
    scores = {model: RNG.uniform(0.2, 0.8, 30).round(3) for model in ("phi", "gemma", "qwen")}
    more = {"difficulty": 5 * RNG.uniform(size=30), "oracle": np.max([*scores.values()], axis=0)}[name]
    table = {"question": [f"q{at}" for at in range(30)], name: more, **scores}
    result = rr.rank(table, higher=["score"], resamples=200, jobs=1)
    assert {row.model for row in result.rows} == {"phi", "gemma", "qwen"}
    assert any(reason in text for text in result.warnings)


@pytest.mark.parametrize(("scale", "first"), [(1, "higher"), (-40, "lower")])
def test_likelier_direction_of_a_matrix_is_suggested_first(scale, first):
    rng = np.random.default_rng(7)
    numbers = scale * np.log(rng.uniform(0.4, 1, (2, 30)) if scale < 0 else rng.uniform(1.2, 2, (2, 30)))
    frame = pl.DataFrame({"question": [f"q{at}" for at in range(30)], "phi": numbers[0], "qwen": numbers[1]})
    with pytest.raises(InputError, match="several possible readings") as caught:
        read(frame, tests=True)
    suggestions = [suggestion for suggestion, _ in caught.value.suggestions]
    assert [first in suggestion for suggestion in suggestions] == [True, False]
    better = read(frame, tests=True, **{first: ("score",)}).metrics[0]
    assert (better.direction, better.declared) == (first, True)


@pytest.mark.parametrize("topic", ["spam_filter", "crash_reports", "ci_regression"])
def test_file_name_alone_does_not_set_the_direction(write, topic):
    values = np.random.default_rng(3).integers(0, 2, (2, 40))
    frame = pl.DataFrame({"request": [f"r{at}" for at in range(40)], "v7": values[0], "v8": values[1]})
    with pytest.raises(InputError) as caught:
        read_scores([write(f"{topic}.csv", frame)], ReadOptions(tests=True))
    assert "only the file has this name" in caught.value.found
    assert not caught.value.suggestions
    daily = write("daily_loss.csv", frame.with_columns(pl.col("v7", "v8") + 0.25))
    assert read_scores([daily], ReadOptions(tests=True)).metrics[0].direction == "lower"


@pytest.mark.parametrize(
    ("name", "lower"),
    [("response_length", False), ("tool_calls", False), ("latenza_s", True), ("defects", True)],
)
def test_counts_next_to_a_score_need_a_direction(name, lower):
    frame = pl.DataFrame({"model": ["a"] * 20 + ["b"] * 20, "prompt": [*range(20)] * 2})
    frame = frame.with_columns(
        bleu=pl.Series(RNG.uniform(size=40)), **{name: pl.Series(RNG.integers(5, 90, 40))}
    )
    directions = {spec.name: spec.direction for spec in read(frame).metrics}
    assert directions.get(name) == ("lower" if lower else None)


@pytest.mark.parametrize(
    "name",
    [
        "wer",
        "loss",
        "hallucination_rate",
        "latency_s",
        "perplexity",
        "regret",
        "Fehlerrate",
        "Laufzeit",
        "downtime",
        "\u9519\u8bef\u7387",
        "文字誤り率(%)",
        "Zeichenfehlerrate",
        "chybovost",
        "hata",
        "응답시간",
    ],
)
def test_lower_is_better_by_name(name):
    table = read(crossed(model=["a", "b"], sample=QUESTIONS).rename({"rate": name}))
    assert table.metrics[0].direction == "lower"
    assert any(f"lower {name} is better, judging by the name" in text for text in table.warnings)


@pytest.mark.parametrize(
    ("name", "first"),
    [("risk", "lower"), ("recall_loss", "lower"), ("f1_miss", "lower"), ("bugs_found", "higher")],
)
def test_ambiguous_metric_names_are_refused(name, first):
    with pytest.raises(InputError, match="unknown direction") as caught:
        read(crossed(model=["a", "b"], sample=QUESTIONS).rename({"rate": name}), tests=True)
    suggestions = [suggestion for suggestion, _ in caught.value.suggestions]
    assert len(suggestions) == 2
    assert first in suggestions[0]


def test_unknown_metric_names_are_reported():
    table = read(crossed(model=["a", "b"], sample=QUESTIONS).rename({"rate": "blorb"}))
    assert "higher blorb is assumed to be better" in reading_note(table)
    assert "is assumed to be better" not in reading_note(read(TABLES["wide"][0]))


@pytest.mark.parametrize(
    ("frame", "last"),
    [
        (TABLES["wide"][0].drop("note"), {"System": "average", "Frage": ""}),
        (TABLES["wide"][0].drop("note"), {"System": "Total", "Frage": "-"}),
        (TABLES["matrix"][0], {"ticket": "Mean"}),
        (TABLES["matrix"][0], {"ticket": None}),
    ],
)
def test_last_row_of_totals_is_excluded(frame, last):
    row = {name: last.get(name, 0.5) for name in frame.columns}
    table = read(pl.concat([frame, pl.DataFrame([row], schema=frame.schema)]))
    assert (len(table.models), len(table.samples)) == (2, N)
    assert "excluding the " in reading_note(table)


def test_last_row_without_a_number_is_a_sample():
    frame = TABLES["wide"][0].drop("note").with_columns(f1=pl.format("{}%", "f1"))
    frame = frame.with_columns(f1=pl.when(pl.int_range(2 * N) < 2 * N - 1).then("f1"))
    with pytest.raises(InputError, match="no score for model"):
        read(frame)
    topics = crossed(model=["a", "b"], topic=[*map(str, range(N)), "Total"]).rename({"rate": "f1"})
    assert len(read(topics).samples) == N


def test_unevenly_mixed_levels_are_weighted_equally():
    """The better model was given more hard questions, and is better on easy and on hard ones."""
    rows = []
    for model, hard, better in (("a", 300, 0.1), ("b", 100, 0.0)):
        for at in range(400):
            score = (0.4 if at < hard else 0.8) + better + RNG.normal(0, 0.05)
            rows.append((model, f"{model}{at}", "hard" if at < hard else "easy", round(score, 3)))
    frame = pl.DataFrame(rows, schema=["model", "question", "level", "f1"], orient="row")
    table = read(frame)
    assert "models differ in the proportion of each level" in reading_note(table)
    assert table.suite
    even = frame.with_columns(level=pl.Series(["hard", "easy"] * 400))
    assert not read(even).suite


def test_totals_below_models_are_excluded():
    frame = crossed(model=["a", "b"], case=[*QUESTIONS, "Mean"]).rename({"rate": "f1"})
    assert len(read(frame).samples) == N
    assert len(read(frame.with_columns(case=pl.col("case").replace({"Mean": "Meaning"}))).samples) == N + 1
    rows = [("ab"[at % 2], f"s{at // 2}", "acc", at % 3 == 0) for at in range(40)]
    misspelt = pl.DataFrame(rows, schema=["mo!el", "sample", "metric", "score"], orient="row")
    assert read(misspelt).models == ("a", "b")


def votes(*pairs, per_sample=1):
    """Return one vote per row: two models, and how many of ten the first wins."""
    rows = [
        (f"q{at // per_sample}", a, b, a if at // len(pairs) % 10 < won else b)
        for at, (a, b, won) in enumerate(pairs * 40)
    ]
    return pl.DataFrame(rows, schema=["prompt", "model_a", "model_b", "winner"], orient="row")


def test_preferences_name_the_winning_model():
    table = read(votes(("x", "y", 8)))
    assert "pairwise preferences" in reading_note(table)
    assert table.models == ("x", "y")
    assert table.values[0].mean() == pytest.approx(1.2)


def votes_with_position_bias(count, swapped, liked, better):
    """Return votes with a preference for the first place and for ``x``; the places are swapped in some."""
    rng = np.random.default_rng(5)
    place = np.where(np.arange(count) < swapped, -1, 1)
    first = rng.random(count) < 1 / (1 + np.exp(-liked - better * place))
    rows = [
        (f"q{at}", *("xy"[::way]), "ab"[not wins])
        for at, (way, wins) in enumerate(zip(place, first, strict=True))
    ]
    return pl.DataFrame(rows, schema=["prompt", "model_a", "model_b", "winner"], orient="row")


@pytest.mark.parametrize("better", [0.0, 1.0])
def test_position_bias_is_estimated(better):
    """Orders with 160 and with 40 votes: by strengths with an advantage of the first, or weighted equally."""
    options, frame = RankReading(tests=True), votes_with_position_bias(200, 40, 0.8, better)
    table = read_scores([FrameSource(frame)], options)
    assert "advantage of model_a estimated" in reading_note(table)
    assert 2 * table.values[0].mean() == pytest.approx(better, abs=0.4)
    assert table.noise.samples_only
    assert "the judge prefers a position: answers in model_a won" in " ".join(table.warnings)
    weighted = read(frame)
    assert "positions (model_a, model_b) weighted equally" in reading_note(weighted)
    assert weighted.values[0].mean() / 2 == pytest.approx(0.4 * better, abs=0.15)
    few = votes_with_position_bias(200, 5, 0.8, better)
    with pytest.raises(InputError, match="in 195 of 200 votes"):
        read_scores([FrameSource(few)], options)
    never = read_scores([FrameSource(votes_with_position_bias(200, 0, 0.8, better))], options)
    assert "position bias is possible" in reading_note(never)


def clustered_scores(between, name="Buch", many=12, first="Buch "):
    """Return two models on thirty samples per book, with differences that vary between books."""
    rng = np.random.default_rng(7)
    book_effects = rng.normal(0, between, many)
    rows = [
        (f"{at}-{book}", f"{first}{3 * book}", model, 0.8 + book_effects[book] * (model == "zwei") + noise)
        for at in range(30)
        for book in range(many)
        for model, noise in zip(("eins", "zwei"), rng.normal(0, 0.05, 2), strict=True)
    ]
    frame = pl.DataFrame(rows, schema=["id", name, "System", "BLEU"], orient="row")
    return frame if first else frame.with_columns(pl.col(name).cast(pl.Int64))


def cluster_count(frame, **options):
    table = read(frame, tests=True, **options)
    return len(table.cluster_names) if table.cluster_names else table.cluster_names


@pytest.mark.parametrize("first", ["Buch ", ""])
def test_correlated_clusters_of_any_name_are_resampled(first):
    frame = clustered_scores(0.05, first=first)
    table = read(frame, tests=True)
    assert (len(table.cluster_names), table.options.cluster) == (12, "Buch")
    assert any("samples with the same Buch are correlated" in text for text in table.warnings)
    kinds = read(frame, tests=True, cluster="none")
    assert (kinds.cluster_names, [metric.name for metric in kinds.metrics]) == (None, ["BLEU"])
    assert rr.rank(frame, resamples=200).rows == rr.rank(frame, resamples=200, cluster="Buch").rows
    matrix = {"columns": "sample=id", "matrix": "BLEU", "models": ("eins", "zwei")}
    across = frame.pivot("System", index=["id", "Buch"], values="BLEU")
    assert cluster_count(across.with_columns(pl.format("Buch {}", "Buch")), **matrix) == 12
    scores = across.with_columns(
        drei=(pl.col("eins") * 100).round().cast(pl.Int64)
    )  # of a model nobody asked for
    assert cluster_count(scores.drop("Buch"), **matrix) is None


def test_few_correlated_clusters_are_random_effects():
    named = {"columns": "model=System,sample=id", "wide": True}
    proposal = read(clustered_scores(0.05, "document", many=6), tests=True, **named).warnings[-1]
    assert "6 values of document, such as Buch 0" in proposal
    assert "makes intervals about 2.2 times as wide" in proposal
    documents = read(clustered_scores(0, "document"), tests=True, **named)
    assert (len(documents.cluster_names), "each document is a cluster" in documents.warnings[-1]) == (
        12,
        True,
    )
    few = RankReading(tests=True, **named)
    for name, between in (("document", 0), ("Buch", 0.5)):
        frame = clustered_scores(between, name, many=6)
        assert read_scores([FrameSource(frame)], few).noise.levels == {name: 6}
    with pytest.raises(InputError, match="needs at least 10 clusters"):
        rr.dominance(clustered_scores(0.5, many=6))


def test_categories_are_not_clusters():
    words = clustered_scores(0.5, many=6).with_columns(
        pl.col("Buch").str.replace_many([*"0123456789"], [*"abcdefghij"])
    )
    for other in (
        clustered_scores(0),
        words,
        clustered_scores(0.05, many=2),
        clustered_scores(0.05, "category"),
    ):
        assert cluster_count(other) is None


def test_kinds_of_sources_are_tasks():
    frame = crossed(prompt=["short", "long"], page=QUESTIONS).drop("note")
    kinds = pl.when(pl.col("page") < "q2").then(pl.lit("printed")).otherwise(pl.lit("handwritten"))
    assert read(frame.with_columns(document_type=kinds)).suite.names == ("handwritten", "printed")


@pytest.mark.parametrize("between", [0.5, 0])
def test_unpaired_samples_are_tested_for_clusters(between):
    """Every second shift belongs to the other model, with higher and more variable scores."""
    rng = np.random.default_rng(5)
    shift_effects = rng.normal(0, between, 24)
    rows = [
        (
            f"o{30 * shift + at}",
            f"shift {shift}",
            "ab"[shift % 2],
            shift_effects[shift] + rng.normal(3 * (shift % 2), 1 + shift % 2),
        )
        for shift in range(24)
        for at in range(30)
    ]
    frame = pl.DataFrame(rows, schema=["order_id", "Schicht", "arm", "rating"], orient="row")
    assert cluster_count(frame) == (24 if between else None)


@pytest.mark.parametrize("write", ["{}_{}", "b{}s{}", "{}/a{}", "{}-{}-x"])
def test_correlation_within_name_prefixes_is_found(write):
    """Prefixes of names without a correlation are not clusters."""
    frame, mixed = clustered_scores(0.05, first=""), np.random.default_rng(3).permutation(360)
    for order, count in ((np.arange(360), 12), (mixed, None)):
        names = np.repeat([write.format(number % 12, number // 12) for number in order], 2)
        named = frame.drop("Buch").with_columns(id=pl.Series(names))
        assert cluster_count(named) == count
        if count:
            options = read(named, tests=True).options
            assert (options.cluster, "AS id_start" in options.sql) == ("id_start", True)


def votes_by_raters(count):
    """Return votes on both models in both positions, by `count` raters."""
    frame = votes(("a", "b", 30), per_sample=1).with_columns(rater=pl.int_range(pl.len()) % count)
    return frame.with_columns(pl.format("r{}", "rater").alias("rater"))


def scores_by_template(count):
    """Return samples, each with one of `count` templates."""
    frame = crossed(model=["a", "b"], id=range(60)).rename({"rate": "f1"}).drop("note")
    return frame.with_columns(template=pl.format("t{}", pl.col("id") % count))


@pytest.mark.parametrize(
    ("frame", "noise"),
    [
        (votes_by_raters(4), {"rater": 4}),
        (votes_by_raters(12), None),
        (scores_by_template(6), {"template": 6}),
        (scores_by_template(12), None),
    ],
)
def test_few_clusters_become_a_noise_source(frame, noise):
    table = read_scores([FrameSource(frame)], RankReading(tests=True))
    assert "is a cluster, resampled as a unit" in reading_note(table)
    assert (table.noise.levels if table.noise else None) == noise
    assert noise is not None or len(table.cluster_names) == 12


def test_rows_of_a_person_count_once():
    rows = [(f"u{u}", "new" if u % 2 else "old", u + k / 8) for u in range(24) for k in range(5)]
    table = read(pl.DataFrame(rows, schema=["user_id", "variant", "rating"], orient="row"))
    assert (table.paired, [len(values) for values in table.values]) == (False, [12, 12])
    assert "averaged within each user_id" in reading_note(table)


TRAINED = ["seed", "fit_no", "replica", "init", "restart_id"]


def runs(name, shift=0.0, count=4, offset=0):
    """Return two models on sixty examples in several runs, each of which may be better on all examples."""
    frame = crossed(optimizer=["a", "b"], seed=range(count), example=range(60)).drop("note", "rate")
    score = (pl.col("example") * 7 % 11 + (pl.col("example") + pl.col("seed")) % 4) / 14
    seeds = pl.col("seed") + offset * (pl.col("optimizer") == "b")
    return frame.with_columns(f1=score + shift * pl.col("seed"), seed=seeds).rename({"seed": name})


@pytest.mark.parametrize(
    ("name", "shift", "offset"),
    [*((name, shift, 0) for name in TRAINED for shift in (0.0, 0.2)), ("seed", 0.2, 100)],
)
def test_trained_models_are_a_source_of_noise(name, shift, offset):
    """Numbers that restart with every run name the same samples; models may have separate seeds."""
    frame = runs(name, shift, offset=offset)
    table = read_scores([FrameSource(frame)], RankReading(tests=True))
    assert (table.noise.levels, np.isnan(table.noise.values).any()) == ({name: 4}, False)
    assert any(f"means are compared over a random sample of {name}" in text for text in table.warnings)
    if name != TRAINED[0] and shift:  # the studies of other names differ in the name only
        return
    named = rr.rank(frame, noise=name, columns="model=optimizer,sample=example", wide=True)
    assert [row.mean for row in rr.rank(frame).rows] == [row.mean for row in named.rows]
    assert rr.gate(frame, better="a:b").rows[0].verdict == "inconclusive"
    if not shift:
        assert read_scores([FrameSource(frame)], RankReading(tests=True, repeats="draws")).has_repeats


@pytest.mark.parametrize("name", ["trial", "run", "rep", "repeat", "attempt", "epoch", "sample_no"])
def test_repeats_are_independent_by_their_name(name):
    """Runs that are certainly better on all samples are a source of noise."""
    table = read_scores([FrameSource(runs(name, 0.002))], RankReading(tests=True))
    assert (table.has_repeats, table.noise) == (True, None)
    uneven = runs(name, 0.2)
    assert read_scores([FrameSource(uneven)], RankReading(tests=True)).noise.levels == {name: 4}
    assert rr.gate(uneven, better="a:b").rows[0].verdict == "inconclusive"
    table = read(uneven, tests=True)
    assert (table.has_repeats, table.noise) == (True, None)
    assert any(f"the values of {name} differ systematically" in text for text in table.warnings)


@pytest.mark.parametrize("name", ["seed", "fit_no", "attempt"])
def test_two_runs_are_enough_for_an_answer(name):
    frame = runs(name, count=2)
    assert rr.rank(frame, resamples=200).rows
    assert rr.rank(frame, repeats="draws", resamples=200).rows


def test_commands_on_distributions_warn_of_trainings():
    warnings = rr.dominance(runs("seed"), resamples=200).warnings
    assert any("each seed may favour a model" in text for text in warnings)


def test_ranks_as_scores_need_a_direction():
    places = np.array([RNG.permutation(3) + 1 for _ in range(N)])
    frame = pl.DataFrame({"dataset": QUESTIONS, **dict(zip("abc", places.T, strict=True))})
    with pytest.raises(InputError, match="several possible readings") as caught:
        read(frame, tests=True)
    assert "lower" in caught.value.suggestions[0][0]


def test_sample_length_is_not_a_metric():
    frame = crossed(system=["a", "b"], clip=QUESTIONS).rename({"rate": "WER"})
    frame = frame.with_columns(duration_s=pl.col("clip").str.slice(1).cast(pl.Int64) / 7)
    assert [metric.name for metric in read(frame).metrics] == ["WER"]


UNEVEN = ("atlas", "weak", 8), ("boreas", "strong", 2), ("atlas", "boreas", 5)


@pytest.mark.parametrize("per_sample", [1, 3])
def test_uneven_opponents_are_compared_head_to_head(per_sample):
    frame = votes(*UNEVEN, per_sample=per_sample)
    with pytest.raises(InputError, match="may have met weaker") as caught:
        read(frame)
    assert "atlas and strong: 0 votes" in caught.value.found
    assert "unpaired" not in str(caught.value)
    assert len(caught.value.suggestions) == len(UNEVEN)
    table = read(frame, models=("atlas", "boreas"))
    assert [values.mean() for values in table.values] == pytest.approx([0, 0])
    assert len(table.samples) == 40
    with pytest.raises(InputError, match=r"votes on all 6 pairs; (.*, )?boreas and weak: 0 votes"):
        read(frame, models=("boreas", "weak"))
    with pytest.raises(UsageError, match="two models on the same sample"):
        read(frame, models=("atlas", "boreas"), unpaired=True)


def test_votes_on_every_pair_of_every_sample_rank_all_models():
    assert len(read(votes(("x", "y", 8), ("x", "z", 9), ("y", "z", 6), per_sample=3)).models) == 3


def test_labels_of_people_correct_the_judge():
    frame = crossed(model=["a", "b"], question=QUESTIONS, area=["x", "y"]).rename({"rate": "judge_score"})
    frame = frame.with_columns(question=pl.col("question") + pl.col("area"))
    human = pl.Series("human_score", RNG.random(frame.height))
    frame = frame.with_columns(human=human).with_columns(
        human_score=pl.when(pl.int_range(frame.height) % 4 < 2).then("human")
    )
    table = read(frame.drop("human"), judges=True)
    assert "calibrate the judge" in reading_note(table)


def test_mixed_shares_and_percentages_are_refused():
    frame = pl.DataFrame({"item": QUESTIONS, "a": RNG.random(N), "b": 95 * RNG.random(N) + 1.6})
    with pytest.raises(InputError, match="mix percentages and fractions"):
        read(frame)


def test_means_cannot_be_tested():
    with pytest.raises(InputError, match="has no samples, so nothing can be tested"):
        read(pl.DataFrame({"model": ["a", "b"], "accuracy_mean": [0.4, 0.5], "accuracy_std": [0.1, 0.1]}))
    with pytest.raises(InputError) as caught:
        read(pl.DataFrame({"trial": range(N), "value": RNG.random(N)}))
    assert "cannot be tested" in caught.value.hint


def test_ambiguous_layouts_suggest_options():
    frame = crossed(who=["a", "b"], question=QUESTIONS).with_columns(place=pl.col("who").str.to_uppercase())
    with pytest.raises(InputError, match="several possible readings") as caught:
        read(frame.rename({"rate": "f1"}))
    assert [suggestion.split(",")[0] for suggestion, _ in caught.value.suggestions] == [
        "\ue000columns\ue001model=who",
        "\ue000columns\ue001model=place",
    ]


def test_gaps_of_a_leaderboard_are_not_failures():
    """The suggested line compares on the tasks that all models have."""
    columns = {"model": ["a", "b", "c"], "rank": [1, 2, 3], "params_b": [7, 13, 70]}
    columns |= {f"task{at}": [None if at == 3 else 0.3, 0.5, 0.4 + at / 40] for at in range(14)}
    with pytest.raises(InputError, match="no score for model 'a'") as caught:
        read(pl.DataFrame(columns))
    assert "excludes 1 of 14 samples" in caught.value.hint
    ((suggestion, _),) = caught.value.suggestions
    assert "drop" in suggestion
    assert (
        len(read(pl.DataFrame(columns), columns="model=model", matrix="score", missing="drop").samples) == 13
    )


LEADERBOARD = pl.DataFrame(
    {"name": ["Ursa", "Lynx", "Vega"], **{f"t{at}": [0.2, None if at < 3 else 0.3, 0.5] for at in range(9)}}
)


@pytest.mark.parametrize(
    ("frame", "options", "expected"),
    [
        (LEADERBOARD.rename({"name": "model"}), {"matrix": "acc"}, ["model=model", "sample=model"]),
        (LEADERBOARD, {"matrix": "acc"}, ["model=name", "sample=name"]),
        (LEADERBOARD, {}, ["model=name", "sample=name"]),
    ],
    ids=["a matrix of models' rows", "a matrix of named rows", "named rows"],
)
def test_ambiguous_rows_are_refused_before_tasks_are_ranked(frame, options, expected):
    with pytest.raises(InputError, match="several possible readings") as caught:
        read(frame, **options)
    assert [
        suggestion.split("\ue001")[1].split("\ue002")[0]
        for suggestion, _ in caught.value.suggestions
        if "columns" in suggestion
    ] == expected
    assert len(read(frame, columns=f"sample={frame.columns[0]}", matrix="acc", missing="drop").models) == 9


@pytest.mark.parametrize("names", [["mmlu", "gsm8k", "arc_challenge", "BBH", "musr", "ifeval"], None])
def test_columns_named_like_benchmarks_are_tasks(names):
    names = names or [f"dataset_{at}" for at in range(6)]
    frame = LEADERBOARD.drop("t1", "t2", "t0").rename(
        dict(zip([f"t{at}" for at in range(3, 9)], names, strict=True))
    )
    table = read(frame)
    assert "a leaderboard" in reading_note(table)
    assert table.models == ("Lynx", "Ursa", "Vega")
    assert "a wide table" in reading_note(read(frame, sample_optional=True, allow_constant=True))


def leaderboard_as(kind):
    """Return the same leaderboard with gaps: one row per model, per task or per score."""
    long = LEADERBOARD.rename({"name": "model"}).unpivot(
        index="model", variable_name="benchmark", value_name="accuracy"
    )
    if kind == "models":
        return LEADERBOARD.rename({"name": "model"})
    return (
        long.drop_nulls() if kind == "scores" else long.pivot("model", index="benchmark", values="accuracy")
    )


@pytest.mark.parametrize("kind", ["models", "tasks", "scores"])
def test_check_names_the_gaps_of_a_leaderboard(kind):
    report = rr.check(leaderboard_as(kind))
    gaps = [(gap.sample, gap.models) for gap in report.document.inspection.holes]
    assert gaps == [(f"t{at}", ("Lynx",)) for at in range(3)]
    assert "3 of 27 scores: t0 lacks Lynx; t1 lacks Lynx; t2 lacks Lynx." in " ".join(
        report.to_text().split()
    )
    (line,) = [
        suggestion.command
        for suggestion in report.document.suggestions
        if suggestion.command.startswith("riskrank rank")
    ]
    assert "--missing shared" in line
    assert rr.rank(leaderboard_as(kind)).to_csv() == rr.rank(leaderboard_as(kind), missing="shared").to_csv()
    assert rr.check(leaderboard_as(kind).head(2)).document.inspection.sparse_pairs == ()


def test_pairs_that_share_too_few_tasks_are_named():
    frame = leaderboard_as("models").with_columns(
        *(pl.lit(None, pl.Float64).alias(f"t{at}") for at in (7, 8))
    )
    frame = pl.concat([frame[:2], leaderboard_as("models")[2:]])
    assert rr.check(frame).document.inspection.sparse_pairs == (("Lynx", "Ursa"), ("Lynx", "Vega"))


@pytest.mark.parametrize("lost", [1, 9])
def test_dropping_over_a_fifth_warns_of_another_population(lost):
    full = crossed(model=["a", "b"], sample=QUESTIONS)
    for frame in (
        full.with_columns(rate=pl.when(pl.int_range(2 * N) % N >= lost).then("rate")),
        full.filter((pl.int_range(2 * N) >= lost) & (pl.int_range(2 * N) < 2 * N)),
    ):
        with pytest.raises(InputError) as caught:
            read(frame)
        assert f"excludes {lost} of {N} samples" in caught.value.hint
        assert ("representative only if" in caught.value.hint) == (5 * lost > N)


def outcome_words(yes, no):
    return pl.when(pl.col("rate") > 0.4).then(pl.lit(yes)).otherwise(pl.lit(no)).alias("rate")


@pytest.mark.parametrize(("yes", "no"), [("passed", "failed"), ("Ja", "nein "), ("YES", "no"), ("sí", "no")])
def test_outcome_words_are_converted_and_reported(yes, no):
    frame = crossed(build=["a", "b"], test_case=QUESTIONS).drop("note").rename({"rate": "outcome"})
    words = frame.rename({"outcome": "rate"}).with_columns(outcome_words(yes, no)).rename({"rate": "outcome"})
    table = read(words)
    assert reading_note(table).endswith(f"; {yes.lower()} = 1, {no.strip()} = 0")
    expected = frame.group_by("build").agg((pl.col("outcome") > 0.4).sum()).sort("build")["outcome"].to_list()
    assert [scores.sum() for scores in table.values] == expected


@pytest.mark.parametrize(
    ("name", "words", "extra", "lost", "metrics"),
    [
        ("reviewed", ("yes", "no"), "rate", False, ["rate"]),
        ("error", ("correct", "wrong"), "rate", False, ["rate"]),
        ("grade", ("correct", "incorrect"), "tokens", False, ["grade"]),
        ("answered_correctly", ("yes", "no"), "rate", False, ["answered_correctly", "rate"]),
        ("outcome", ("PASSED", "FAILED"), "duration", True, ["outcome"]),
        ("status", ("passed", "failed"), "duration", False, ["status"]),
        ("status", ("passed", "failed"), "rate", True, ["rate"]),
        ("status", ("ok", "error"), "rate", False, ["rate"]),
    ],
)
def test_outcome_words_are_scores_but_flags_are_not(name, words, extra, lost, metrics):
    frame = crossed(system=["a", "b"], question=QUESTIONS).drop("note")
    frame = frame.with_columns(frame["rate"].alias("number"), outcome_words(*words)).rename({"rate": name})
    failed = pl.col(name) == words[1] if lost else pl.lit(value=False)
    table = frame.with_columns(pl.when(~failed).then("number").alias(extra)).drop("number")
    result = read(table, missing="drop" if lost else "error")
    assert sorted(spec.name for spec in result.metrics) == metrics
    assert (" = 1" in reading_note(result)) == (name in metrics)
    if words[0] != "ok":
        assert [spec.name for spec in read(table, metric=(name,)).metrics] == [name]


def test_text_column_of_a_numeric_matrix_is_not_a_model():
    frame = pl.DataFrame({"ticket": QUESTIONS, "gpt": RNG.random(N), "claude": RNG.random(N)})
    table = read(frame.with_columns(result=pl.Series(["resolved", "unresolved"] * (N // 2))))
    assert (table.models, " = 1" in reading_note(table)) == (("claude", "gpt"), False)


def test_short_tables_of_many_text_columns_are_not_searched(monkeypatch):
    frame = pl.DataFrame({f"c{at}": ["x", "y", f"z{at % 3}"] for at in range(30)})
    monkeypatch.setattr("riskrank.scores.layouts.long_and_wide.find_keys", None)
    with pytest.raises(InputError, match="missing columns"):
        read(frame)


def test_third_outcome_word_must_mean_missing():
    frame = (
        crossed(build=["a", "b"], test_case=QUESTIONS)
        .drop("note")
        .with_columns(outcome_words("passed", "failed"))
    )
    with_third = [
        frame.with_columns(rate=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(word)).otherwise("rate"))
        for word in ("flaky", "skipped")
    ]
    with pytest.raises(InputError, match="missing column"):
        read(with_third[0])
    assert len(read(with_third[1], missing="drop").samples) == N - 1


def equal_weight_notes(result):
    return [text for text in result.warnings if "weighted equally" in text]


@pytest.mark.slow
def test_default_weights_are_reported():
    frame = crossed(model=["a", "b"], request=QUESTIONS).rename({"rate": "accuracy"})
    frame = frame.with_columns(cost_usd=pl.col("accuracy") * 2, latency_s=pl.Series(RNG.random(2 * N)))
    quick = {"resamples": 50, "jobs": 1}
    (text,) = equal_weight_notes(rr.rank(frame, **quick))
    assert text.startswith("no weights given, so accuracy, cost_usd, latency_s are weighted equally")
    assert 'weights="accuracy=5"' in text
    for options in (
        {"weights": {"accuracy": 5}},
        {"weights": "equal"},
        {"per_metric": True},
        {"metric": "accuracy"},
    ):
        assert not equal_weight_notes(rr.rank(frame, **quick, **options)), options
    explicit = {"columns": "model=model,sample=request", "wide": True, "lower": ["cost_usd", "latency_s"]}
    assert equal_weight_notes(rr.rank(frame, **quick, **explicit))
    fine = frame.rename({"cost_usd": "f1"}).drop("latency_s")
    assert equal_weight_notes(rr.rank(fine, **quick))
    assert not equal_weight_notes(rr.rank(fine, columns="model=model,sample=request", wide=True, **quick))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dienst;Frage;Zeit;Last\na;1;640;38,5\nb;1;1.650;38,5\n", {640.0, 1650.0}),
        ("Dienst;Frage;Zeit\na;1;640\nb;1;1.650\n", {640.0, 1650.0}),
        ("Dienst;Frage;Zeit\na;1;2\nb;1;1.655\n", {2.0, 1.655}),
        ("Dienst;Frage;Zeit\na;1;0.640\nb;1;1.650\n", {0.64, 1.65}),
    ],
)
def test_thousands_separator_is_inferred_from_other_cells(tmp_path, text, expected):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    options = ReadOptions(columns="model=Dienst,sample=Frage", wide=True, metric=("Zeit",), lower=("Zeit",))
    table = read_scores([str(tmp_path / "t.csv")], options)
    assert {-float(values[0, 0]) for values in table.values} == expected


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (RNG.exponential(3, 2 * N), "lower"),
        (RNG.uniform(2, 9, 2 * N), "no line to copy"),
        (RNG.integers(1, 6, 2 * N), "higher"),
    ],
)
def test_unknown_metric_names_need_a_direction(values, first):
    frame = crossed(model=["a", "b"], sample=QUESTIONS).drop("rate").with_columns(zorp=pl.Series(values))
    with pytest.raises(InputError, match="unknown direction of zorp") as caught:
        read(frame, tests=True)
    assert first in str(caught.value.suggestions[0][0] if caught.value.suggestions else "no line to copy")


@pytest.mark.parametrize(
    ("yes", "no", "way"),
    [
        ("supported", "unsupported", ""),
        ("juist", "onjuist", ""),
        ("解決", "未解決", ""),
        ("nicht bestanden", "bestanden", "lower"),
        ("cached", "uncached", "higher"),
        ("toxic", "non-toxic", "lower"),
        ("हाँ", "नहीं", ""),
    ],
)
def test_word_and_its_negation_are_binary_scores(yes, no, way):
    """The bare word is good by its meaning; a count of words is not used as the score instead."""
    frame = (
        crossed(summarizer=["a", "b"], document=QUESTIONS).drop("note").with_columns(outcome_words(yes, no))
    )
    frame = frame.rename({"rate": "सही" if yes == "हाँ" else "finding"}).with_columns(
        n_words=pl.Series([5, 7] * N)
    )
    good = yes if way != "lower" or yes == "toxic" else no
    count = [(frame.filter(summarizer=name)[frame.columns[2]] == good).sum() for name in "ab"]
    if way and yes != "nicht bestanden":
        with pytest.raises(InputError, match="several possible readings") as caught:
            read(frame)
        assert way in caught.value.suggestions[0][0]
        return
    table = read(frame)
    assert [spec.name for spec in table.metrics] == [frame.columns[2]]
    assert [scores.sum() for scores in table.values] == count


@pytest.mark.parametrize("sort", [["conv", "bot"], ["conv", "stelle"]])
def test_part_numbers_of_clusters_are_not_scores(sort):
    frame = crossed(bot=["a", "b"], conv=QUESTIONS, stelle=[1, 2, 3, 4]).rename({"rate": "rating"})
    table = read(frame.sort(*sort, maintain_order=True).rename({"conv": "conversation"}))
    assert [spec.name for spec in table.metrics] == ["rating"]
    assert "sample (conversation+stelle)" in reading_note(table)
    assert "each conversation is a cluster" in reading_note(table)


def crossed_with_ids(**levels):
    """Like `crossed`, with an identifier and a distinct count for each row."""
    frame = crossed(**levels).rename({"rate": "f1"})
    return frame.with_columns(run_id=pl.format("r-{}", pl.int_range(pl.len()).shuffle(7)))


READINGS = [
    # A row number is not the sample if other columns are crossed with the models.
    (
        crossed_with_ids(arch=["a", "b"], dataset=["x", "y", "z"], seed=[*range(4)]),
        {},
        "sample (seed)",
        ("a", "b"),
    ),
    # The model names of a claim or of the caller identify the model column.
    (
        crossed_with_ids(mode=["on", "off"], place=[*"pqrs"], commit=QUESTIONS),
        {"models": ("on", "off")},
        "sample (",
        ("off", "on"),
    ),
    # An option names the metric although one model is named like a metric.
    (
        pl.DataFrame({"ticket": QUESTIONS} | {name: RNG.random(N) * 3 for name in ("elo", "glicko", "bt")}),
        {"matrix": "loss"},
        "",
        ("bt", "elo", "glicko"),
    ),
    # A column of counts next to fractions is not a model.
    (
        pl.DataFrame(
            {"request": QUESTIONS, "sent": [*range(9000, 9000 + N)], "p": RNG.random(N), "q": RNG.random(N)}
        ),
        {},
        "ignored: sent",
        ("p", "q"),
    ),
    # Groups of people are not models if each person tried something.
    (
        crossed(shoe=["s", "t"], athlete=QUESTIONS).with_columns(
            kind=pl.when(pl.col("athlete").is_in(QUESTIONS[:9])).then(pl.lit("m")).otherwise(pl.lit("f"))
        ),
        {},
        "model (shoe)",
        ("s", "t"),
    ),
]  # fmt: skip


OUTCOMES = pl.Series(
    [("passed", "failed", "error", "skipped", "passed")[at * 7 % 11 % 5] for at in range(2 * N)]
)

READINGS += [
    # A few runs on each of many data sets are runs, not samples.
    (
        crossed(arch=["a", "b"], dataset=[*"klmnopqrstu"], seed=[0, 1, 2]),
        {},
        "seed: repeats of each dataset",
        ("a", "b"),
    ),
    # The metric is the outcome of tests, not their duration.
    (
        crossed(agent=["a", "b"], testcase=QUESTIONS).rename({"rate": "time"}).with_columns(status=OUTCOMES),
        {"missing": "keep"},
        " to include it; passed = 1, error, failed = 0",
        ("a", "b"),
    ),
    # Next to a score, an outcome is not a metric.
    (
        crossed(agent=["a", "b"], case=QUESTIONS).rename({"rate": "f1"}).with_columns(status=OUTCOMES),
        {},
        "one column per metric (f1)",
        ("a", "b"),
    ),
    # Tags before answers are outcomes.
    (
        pl.DataFrame(
            {"question": QUESTIONS}
            | {"xy"[n]: [f"[{'PASS' if at % (n + 2) else 'FAIL'}] {at}" for at in range(N)] for n in (0, 1)}
        ),
        {},
        "pass = 1, fail = 0",
        ("x", "y"),
    ),
    # Percentages are read although some are written as missing.
    (
        pl.DataFrame({"ward": QUESTIONS} | {m: ["n.d.", *[f"{at},5 %" for at in range(1, N)]] for m in "xy"}),
        {"matrix": "share", "missing": "drop"},
        "a matrix",
        ("x", "y"),
    ),
    # Nested objects have separate fields.
    (
        crossed(llm=["a", "b"], id=QUESTIONS).with_columns(
            scores=pl.struct(choice=pl.struct(value=pl.Series(["C", "I", "C"] * 16), answer=pl.lit("B")))
        ).drop("rate"),
        {},
        "scores.choice.value); ",
        ("a", "b"),
    ),
    # Tasks with different metrics are one suite.
    (
        crossed(model=["a", "b"], task=QUESTIONS)
        .with_columns(metric=pl.Series(["acc", "f1"] * N), stderr=0.01)
        .rename({"rate": "value"}),
        {},
        "each task has its own metric",
        ("a", "b"),
    ),
    # The popularity of a model is not a task.
    (
        pl.DataFrame({"model": ["a", "b"], **{f"task{at}": [at, 9] for at in range(8)}, "likes": [7, 9]}),
        {},
        "ignored: likes",
        ("a", "b"),
    ),
    # Columns with common values do not name models.
    (
        pl.DataFrame({"uid": QUESTIONS, "control": [0, 1, 0] * (N // 3), "treatment": [1, 1, 0] * (N // 3)}),
        {"matrix": "score"},
        "one column per model (control, treatment)",
        ("control", "treatment"),
    ),
    (
        pl.DataFrame({"visit": QUESTIONS, "control": [0, 1, 0] * (N // 3), "variant": [1, 1, 0] * (N // 3)}),
        {"matrix": "score"},
        "one column per model (control, variant)",
        ("control", "variant"),
    ),
    # Wordings of prompts are compared only if nothing else is.
    (
        crossed(item=QUESTIONS, template=["short", "long"], net=["a", "b"]).rename({"rate": "hit"}),
        {},
        "model (net)",
        ("a", "b"),
    ),
    # Ratings are averaged over raters.
    (
        crossed(poem=QUESTIONS, grader=["j", "k"], writer=["a", "b", "c"]).rename({"rate": "stars"}),
        {},
        "averaged over grader",
        ("a", "b", "c"),
    ),
    # A grade by a model does not name models.
    (
        crossed(tutor=["a", "b"], essay=QUESTIONS).rename({"rate": "f1"}).with_columns(
            llm_grade=pl.Series([3, 4, 5, 4] * (N // 2))
        ),
        {"higher": ("llm_grade",)},
        "model (tutor)",
        ("a", "b"),
    ),
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(READINGS)))
def test_crossed_columns_separate_samples_from_models(at):
    frame, options, words, models = READINGS[at]
    table = read(frame, **options)
    assert table.models == models
    assert words in "".join(text for text in table.warnings if text.startswith("Read as "))


def test_duration_next_to_an_outcome_is_not_a_metric():
    frame = crossed(agent=["a", "b"], classname=QUESTIONS).with_columns(time=pl.col("rate") * 3)
    table = read(frame.with_columns(outcome_words("passed", "failed")).rename({"rate": "status"}))
    assert [spec.name for spec in table.metrics] == ["status"]
    assert "time (a duration)" in reading_note(table)


@pytest.mark.parametrize(("clean", "seen"), [("no", "yes"), ("unseen", "seen"), (0, 1)])
def test_contaminated_samples_need_a_decision(clean, seen):
    frame = crossed(model=["a", "b"], item=QUESTIONS).with_columns(
        contaminated=pl.when(pl.col("item").is_in(QUESTIONS[:9])).then(pl.lit(seen)).otherwise(pl.lit(clean))
    )
    with pytest.raises(InputError, match="seen in training") as caught:
        read(frame.rename({"rate": "f1"}))
    condition = caught.value.suggestions[0][1].where if caught.value.suggestions[0][1] else caught.value.hint
    assert f"= '{clean}'" in condition
    table = read(frame.rename({"rate": "f1"}), where=f"contaminated = {clean!r}")
    assert "only rows where contaminated" in reading_note(table)
    assert len(table.samples) == N - 9


def test_task_names_that_end_in_metrics_are_a_leaderboard():
    names = [
        "QA - F1",
        "Open QA - EM",
        "Math - Equivalent",
        "Summaries - ROUGE-2",
        "WMT - BLEU-4",
        "BoolQ - EM",
    ]
    frame = pl.DataFrame({"Model": ["a", "b"], **{name: RNG.random(2) for name in names}})
    assert "a leaderboard" in reading_note(read(frame))
    with pytest.raises(InputError, match="has no samples, so nothing can be tested"):
        read(frame.rename(dict(zip(names, ["val_f1", "val_em", "f1", "em", "bleu", "rouge"], strict=True))))


def test_outcome_columns_named_like_models_are_a_matrix():
    outcomes = [pl.Series(name, ["pass", "fail", "pass"] * (N // 3)) for name in ("build_41", "build_42")]
    assert read(pl.DataFrame({"case": QUESTIONS}).with_columns(outcomes)).models == ("build_41", "build_42")
    frame = crossed(build=["pass", "fail"], case=QUESTIONS).rename({"rate": "f1"})
    assert read(frame).models == ("fail", "pass")


def test_single_model_is_refused_under_any_column_name():
    with pytest.raises(InputError, match="at least 2 models"):
        read(crossed(model_name=["a"], clip=QUESTIONS).rename({"rate": "map"}))


@pytest.mark.filterwarnings("error")
def test_column_without_numbers_is_not_a_model():
    blank = pl.Series("b", ["nan", "x", "nan"] * (N // 3))
    with pytest.raises(InputError, match="missing columns"):
        read(pl.DataFrame({"case": QUESTIONS, "-1.2e-23": RNG.random(N) * 1e9}).with_columns(blank))


def graded(scale, name="verdict"):
    """Return two models on thirty samples, graded in words."""
    rows = [
        (model, f"s{s}", scale[(s * 7 + at) % len(scale)]) for at, model in enumerate("ab") for s in range(30)
    ]
    return pl.DataFrame(rows, schema=["model", "sample", name], orient="row")


@pytest.mark.parametrize(
    ("scale", "scores"),
    [
        (("much-worse", "slightly-worse", "equal", "slightly-better", "much-better"), (-2, -1, 0, 1, 2)),
        (("Much worse", "Same", "much better"), (-2, 0, 2)),
        (("very poor", "poor", "fair", "good", "excellent"), (1, 2, 3, 4, 5)),
        (("strongly_disagree", "neutral", "strongly_agree"), (1, 3, 5)),
    ],
)
def test_words_of_an_ordinal_scale_are_grades(scale, scores):
    table = read(graded(scale))
    assert tuple(np.unique(table.values[0])) == scores
    assert f"{scale[0].lower().replace(' ', '-').replace('_', '-')} = {scores[0]}" in reading_note(table)


def test_letters_are_grades_if_the_column_says_so():
    assert tuple(np.unique(read(graded("EDCBA", "grade")).values[0])) == (1, 2, 3, 4, 5)
    for name in ("verdict", "answer"):
        with pytest.raises(InputError, match="missing column 'score'"):
            read(graded("EDCBA", name))


def test_columns_named_after_two_versions_are_models():
    """Baseline and candidate are models, even beside a column of text that crosses the samples."""
    noise = np.random.default_rng(0).lognormal(3, 1, (3, 12, 2)).tolist()
    rows = [
        (name, run, *noise[at][run]) for at, name in enumerate(("sort", "find", "any")) for run in range(12)
    ]
    frame = pl.DataFrame(rows, schema=["routine", "run", "baseline", "candidate"], orient="row")
    with pytest.raises(InputError) as failure:
        rr.rank(frame)
    assert all("matrix" in line for line, _ in failure.value.suggestions)
    assert failure.value.suggestions
