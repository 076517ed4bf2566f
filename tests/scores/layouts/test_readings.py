"""Tables without a word about them: each is read as what it is, and says so in one line."""

from functools import partial

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, UsageError
from riskrank.options.reading import RankReading, ReadOptions
from riskrank.scores.files.frames import FrameSource
from riskrank.scores.table.score_table import read_scores

RNG = np.random.default_rng(32)
N = 24


def crossed(**levels):
    """A row for every combination, and a score of its own."""
    frame = pl.DataFrame({"row": [0]})
    for name, values in levels.items():
        frame = frame.join(pl.DataFrame({name: values}), how="cross")
    return frame.drop("row").with_columns(note=pl.lit("x"), rate=pl.Series(RNG.random(frame.height).round(3)))


def read(frame, **options):
    return read_scores([FrameSource(frame)], ReadOptions(**options))


def said(table):
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
        "a matrix: a row a sample (ticket)",
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
        "runs of a task",
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
        "each session is a cluster, drawn whole",
        ("rating",),
        3 * N,
    ),
    "sessions of a matrix": (
        crossed(session=QUESTIONS, turn=[1, 2, 3])
        .with_columns(a=pl.Series(RNG.random(3 * N)), b=pl.Series(RNG.random(3 * N)))
        .drop("rate", "note"),
        "each session is a cluster, drawn whole",
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
        "left out: predicted_score (what was predicted); teacher_score (the same for all models)",
        ("abs_error",),
        N,
    ),
    "settings of models": (
        crossed(run=["a", "b"], example=QUESTIONS)
        .with_columns(alpha=(pl.col("run") == "a") * 16 + 16, cost_usd=(pl.col("run") == "a") * 2.5 + 1)
        .rename({"rate": "f1"}),
        "left out: alpha (a setting of the model)",
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
        "a row a model (model_name_or_path)",
        ("resolved",),
        N,
    ),
    "prompts of one model": (
        crossed(model=["m"], variant=["a", "b"], question=QUESTIONS).rename({"rate": "f1"}),
        "a row a model (variant)",
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
        "a column a metric (latency_ms)",
        ("latency_ms",),
        N,
    ),
    "units": (
        crossed(engine=["a", "b"], query=QUESTIONS)
        .with_columns(latency=pl.format("{}s", "rate"))
        .drop("rate"),
        "a column a metric (latency)",
        ("latency",),
        N,
    ),
    "copies": (
        pl.concat([crossed(pipeline=["a", "b"], example=QUESTIONS).rename({"rate": "f1"})] * 3),
        "the same rows 3 times, counted once",
        ("f1",),
        N,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_read_as_what_it_is(kind):
    frame, words, metrics, samples = TABLES[kind]
    table = read(frame.sample(fraction=1, shuffle=True, seed=3) if kind != "matrix" else frame)
    assert words in said(table)
    assert (tuple(spec.name for spec in table.metrics), len(table.samples)) == (metrics, samples)
    assert len(table.models) in (2, 3)


def test_the_reading_is_said_as_options(tmp_path):
    """The options in its line read the same table."""
    frame = TABLES["runs"][0]
    told = read(frame).options
    assert (told.columns, told.wide, told.repeats) == ("model=agent,sample=task,draw=attempt", True, "draws")
    again = read(frame, columns=told.columns, wide=True, repeats="draws")
    assert again.models == read(frame).models
    assert not any(text.startswith("Read as ") for text in again.warnings)


def test_bookkeeping_is_left_out_and_taken_back():
    frame = crossed(model=["a", "b"], sample=QUESTIONS).rename({"rate": "f1"})
    numbers = {"tokens": 120, "seed": 7, "learning_rate": 0.1, "duration": 3, "sample_id": 5}
    frame = frame.with_columns(
        *(pl.Series(name, at + RNG.integers(0, 9, 2 * N)) for name, at in numbers.items())
    )
    table = read(frame)
    assert [spec.name for spec in table.metrics] == ["f1"]
    assert "tokens" in said(table)
    assert "how long it took" in said(table)
    taken = read(frame, metric=("f1", "tokens"))
    assert [spec.name for spec in taken.metrics] == ["f1", "tokens"]


@pytest.mark.parametrize(
    ("name", "why"), [("difficulty", "what samples are like"), ("oracle", "the best of the others")]
)
def test_what_is_no_model_of_a_matrix_is_left_out(name, why):
    scores = {one: RNG.uniform(0.2, 0.8, 30).round(3) for one in ("phi", "gemma", "qwen")}
    more = {"difficulty": 5 * RNG.uniform(size=30), "oracle": np.max([*scores.values()], axis=0)}[name]
    table = {"question": [f"q{at}" for at in range(30)], name: more, **scores}
    found = rr.rank(table, higher=["score"], resamples=200, jobs=1)
    assert {row.model for row in found.rows} == {"phi", "gemma", "qwen"}
    assert any(why in text for text in found.warnings)


@pytest.mark.parametrize(("scale", "first"), [(1, "higher"), (-40, "lower")])
def test_both_directions_of_a_matrix_without_a_name_are_printed_and_the_likelier_first(scale, first):
    own = np.random.default_rng(7)
    numbers = scale * np.log(own.uniform(0.4, 1, (2, 30)) if scale < 0 else own.uniform(1.2, 2, (2, 30)))
    frame = pl.DataFrame({"question": [f"q{at}" for at in range(30)], "phi": numbers[0], "qwen": numbers[1]})
    with pytest.raises(InputError, match="several ways") as caught:
        read(frame, tests=True)
    ways = [way for way, _ in caught.value.ways]
    assert [first in way for way in ways] == [True, False]
    better = read(frame, tests=True, **{first: ("score",)}).metrics[0]
    assert (better.direction, better.declared) == (first, True)


@pytest.mark.parametrize("topic", ["spam_filter", "crash_reports", "ci_regression"])
def test_what_only_a_file_is_called_may_be_its_topic(write, topic):
    values = np.random.default_rng(3).integers(0, 2, (2, 40))
    frame = pl.DataFrame({"request": [f"r{at}" for at in range(40)], "v7": values[0], "v8": values[1]})
    with pytest.raises(InputError) as caught:
        read_scores([write(f"{topic}.csv", frame)], ReadOptions(tests=True))
    assert "only the file is called so" in caught.value.found
    assert not caught.value.ways
    daily = write("daily_loss.csv", frame.with_columns(pl.col("v7", "v8") + 0.25))
    assert read_scores([daily], ReadOptions(tests=True)).metrics[0].direction == "lower"


@pytest.mark.parametrize(
    ("name", "lower"),
    [("response_length", False), ("tool_calls", False), ("latenza_s", True), ("defects", True)],
)
def test_more_of_what_is_counted_beside_a_score_is_not_better(name, lower):
    frame = pl.DataFrame({"model": ["a"] * 20 + ["b"] * 20, "prompt": [*range(20)] * 2})
    frame = frame.with_columns(
        bleu=pl.Series(RNG.uniform(size=40)), **{name: pl.Series(RNG.integers(5, 90, 40))}
    )
    ways = {spec.name: spec.direction for spec in read(frame).metrics}
    assert ways.get(name) == ("lower" if lower else None)


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
def test_less_is_better_by_name(name):
    table = read(crossed(model=["a", "b"], sample=QUESTIONS).rename({"rate": name}))
    assert table.metrics[0].direction == "lower"
    assert any(f"less {name} is better, by its name" in text for text in table.warnings)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("risk", "lower"),
        ("recall_loss", "lower"),
        ("f1_miss", "lower"),
        ("bugs_found", "higher"),
    ],
)
def test_names_that_may_mean_either_are_refused(name, first):
    with pytest.raises(InputError, match="which way is better") as caught:
        read(crossed(model=["a", "b"], sample=QUESTIONS).rename({"rate": name}), tests=True)
    ways = [way for way, _ in caught.value.ways]
    assert len(ways) == 2
    assert first in ways[0]


def test_names_that_say_nothing_are_told():
    table = read(crossed(model=["a", "b"], sample=QUESTIONS).rename({"rate": "blorb"}))
    assert "more blorb is taken as better, for nothing says so" in said(table)
    assert "is taken as better" not in said(read(TABLES["wide"][0]))


@pytest.mark.parametrize(
    ("frame", "last"),
    [
        (TABLES["wide"][0].drop("note"), {"System": "average", "Frage": ""}),
        (TABLES["wide"][0].drop("note"), {"System": "Total", "Frage": "-"}),
        (TABLES["matrix"][0], {"ticket": "Mean"}),
        (TABLES["matrix"][0], {"ticket": None}),
    ],
)
def test_a_last_row_of_totals_is_no_sample(frame, last):
    row = {name: last.get(name, 0.5) for name in frame.columns}
    table = read(pl.concat([frame, pl.DataFrame([row], schema=frame.schema)]))
    assert (len(table.models), len(table.samples)) == (2, N)
    assert "without the " in said(table)


def test_a_last_row_without_a_number_is_a_sample_all_the_same():
    frame = TABLES["wide"][0].drop("note").with_columns(f1=pl.format("{}%", "f1"))
    frame = frame.with_columns(f1=pl.when(pl.int_range(2 * N) < 2 * N - 1).then("f1"))
    with pytest.raises(InputError, match="no score for model"):
        read(frame)
    topics = crossed(model=["a", "b"], topic=[*map(str, range(N)), "Total"]).rename({"rate": "f1"})
    assert len(read(topics).samples) == N


def test_what_models_mix_differently_counts_alike():
    """One is better on easy and on hard questions, and was asked more hard ones."""
    rows = []
    for model, hard, better in (("a", 300, 0.1), ("b", 100, 0.0)):
        for at in range(400):
            score = (0.4 if at < hard else 0.8) + better + RNG.normal(0, 0.05)
            rows.append((model, f"{model}{at}", "hard" if at < hard else "easy", round(score, 3)))
    frame = pl.DataFrame(rows, schema=["model", "question", "level", "f1"], orient="row")
    table = read(frame)
    assert "mixed differently by level" in said(table)
    assert table.suite
    even = frame.with_columns(level=pl.Series(["hard", "easy"] * 400))
    assert not read(even).suite


def test_totals_below_each_model_are_no_samples():
    frame = crossed(model=["a", "b"], case=[*QUESTIONS, "Mean"]).rename({"rate": "f1"})
    assert len(read(frame).samples) == N
    assert len(read(frame.with_columns(case=pl.col("case").replace({"Mean": "Meaning"}))).samples) == N + 1
    rows = [("ab"[at % 2], f"s{at // 2}", "acc", at % 3 == 0) for at in range(40)]
    misspelt = pl.DataFrame(rows, schema=["mo!el", "sample", "metric", "score"], orient="row")
    assert read(misspelt).models == ("a", "b")


def votes(*pairs, per_sample=1):
    """A vote a row: two models, and how many of ten the first wins."""
    rows = [
        (f"q{at // per_sample}", a, b, a if at // len(pairs) % 10 < won else b)
        for at, (a, b, won) in enumerate(pairs * 40)
    ]
    return pl.DataFrame(rows, schema=["prompt", "model_a", "model_b", "winner"], orient="row")


def test_preferences_by_the_names_of_models():
    table = read(votes(("x", "y", 8)))
    assert "pairwise preferences" in said(table)
    assert table.models == ("x", "y")
    assert table.values[0].mean() == pytest.approx(1.2)


def seated(count, swapped, liked, better):
    """Votes on two models, of which one changes places so often: the first place and ``x`` are liked."""
    own = np.random.default_rng(5)
    place = np.where(np.arange(count) < swapped, -1, 1)
    first = own.random(count) < 1 / (1 + np.exp(-liked - better * place))
    rows = [
        (f"q{at}", *("xy"[::way]), "ab"[not wins])
        for at, (way, wins) in enumerate(zip(place, first, strict=True))
    ]
    return pl.DataFrame(rows, schema=["prompt", "model_a", "model_b", "winner"], orient="row")


@pytest.mark.parametrize(("better", "share"), [(0.0, 0.0), (1.0, 0.4)])
def test_places_that_are_liked_decide_nothing(better, share):
    """Of 160 votes in one order and 40 in the other both orders weigh alike; each pair by its mean."""
    options = RankReading(tests=True)
    table = read_scores([FrameSource(seated(200, 40, 0.8, better))], options)
    assert "both places (model_a, model_b) of a pair weigh alike" in said(table)
    assert table.values[0].mean() / 2 == pytest.approx(share, abs=0.15)
    assert table.noise.shared
    few = seated(200, 5, 0.8, better)
    with pytest.raises(InputError, match="in 195 of 200 votes"):
        read_scores([FrameSource(few)], options)
    never = read_scores([FrameSource(seated(200, 0, 0.8, better))], options)
    assert "a liking for that place would look the same" in said(never)


def chapters(between, name="Buch", many=12, first="Buch "):
    """Two models on thirty samples a book, whose differences vary between books."""
    own = np.random.default_rng(7)
    of_book = own.normal(0, between, many)
    rows = [
        (f"{at}-{book}", f"{first}{3 * book}", model, 0.8 + of_book[book] * (model == "zwei") + noise)
        for at in range(30)
        for book in range(many)
        for model, noise in zip(("eins", "zwei"), own.normal(0, 0.05, 2), strict=True)
    ]
    frame = pl.DataFrame(rows, schema=["id", name, "System", "BLEU"], orient="row")
    return frame if first else frame.with_columns(pl.col(name).cast(pl.Int64))


@pytest.mark.parametrize("first", ["Buch ", ""])
def test_samples_that_are_alike_within_wholes_of_any_name_are_refused(first):
    frame = chapters(0.05, first=first)
    with pytest.raises(InputError, match="samples of one Buch are alike") as caught:
        read(frame, tests=True)
    assert ["Buch" in caught.value.ways[0][0], "none" in caught.value.ways[1][0]] == [True, True]
    assert len(read(frame, tests=True, cluster="Buch").cluster_names) == 12
    kinds = read(frame, tests=True, cluster="none")
    assert (kinds.cluster_names, [one.name for one in kinds.metrics]) == (None, ["BLEU"])
    matrix = {"columns": "sample=id", "matrix": "BLEU", "models": ("eins", "zwei"), "tests": True}
    across = frame.pivot("System", index=["id", "Buch"], values="BLEU")
    of_text = across.with_columns(pl.format("Buch {}", "Buch"))
    with pytest.raises(InputError, match="samples of one Buch are alike"):
        read(of_text, **matrix)
    assert len(read(of_text, cluster="Buch", **matrix).cluster_names) == 12
    scores = across.with_columns(
        drei=(pl.col("eins") * 100).round().cast(pl.Int64)
    )  # of a model nobody asked for
    assert read(scores.drop("Buch"), **matrix).cluster_names is None
    named = {"columns": "model=System,sample=id", "wide": True}
    with pytest.raises(InputError, match="samples of one document are alike"):
        read(chapters(0.05, "document", many=6), tests=True, **named)
    with pytest.raises(InputError, match="samples of one Buch are alike") as caught:
        read_scores([FrameSource(chapters(0.5, many=6))], RankReading(tests=True))
    assert "noise" in caught.value.ways[0][0]
    words = chapters(0.5, many=6).with_columns(
        pl.col("Buch").str.replace_many([*"0123456789"], [*"abcdefghij"])
    )
    for other in (chapters(0), words, chapters(0.05, many=2), chapters(0.05, "category")):
        assert read(other, tests=True).cluster_names is None


def test_kinds_of_what_samples_come_from_are_tasks():
    frame = crossed(prompt=["short", "long"], page=QUESTIONS).drop("note")
    kinds = pl.when(pl.col("page") < "q2").then(pl.lit("printed")).otherwise(pl.lit("handwritten"))
    assert read(frame.with_columns(document_type=kinds)).suite.names == ("handwritten", "printed")


@pytest.mark.parametrize("between", [0.5, 0])
def test_samples_of_one_model_each_are_tested_for_wholes(between):
    """Every second shift is of the other model, whose scores are higher and spread more."""
    own = np.random.default_rng(5)
    of_shift = own.normal(0, between, 24)
    rows = [
        (
            f"o{30 * shift + at}",
            f"shift {shift}",
            "ab"[shift % 2],
            of_shift[shift] + own.normal(3 * (shift % 2), 1 + shift % 2),
        )
        for shift in range(24)
        for at in range(30)
    ]
    frame = pl.DataFrame(rows, schema=["order_id", "Schicht", "arm", "rating"], orient="row")
    if between:
        with pytest.raises(InputError, match="samples of one Schicht are alike"):
            read(frame, tests=True)
    else:
        assert read(frame, tests=True).cluster_names is None


@pytest.mark.parametrize("write", ["{}_{}", "b{}s{}", "{}/a{}", "{}-{}-x"])
def test_samples_that_are_alike_within_what_their_names_begin_with_are_refused(write):
    """Names in which nothing is alike are those of samples, whatever they begin with."""
    frame, mixed = chapters(0.05, first=""), np.random.default_rng(3).permutation(360)
    for at, alike in ((np.arange(360), True), (mixed, False)):
        names = np.repeat([write.format(one % 12, one // 12) for one in at], 2)
        named = frame.drop("Buch").with_columns(id=pl.Series(names))
        if not alike:
            assert read(named, tests=True).cluster_names is None
            continue
        with pytest.raises(InputError, match="samples of one start of id are alike") as caught:
            read(named, tests=True)
        assert ["id_start" in one for one, _ in caught.value.ways] == [True]
        query = caught.value.hint.partition("sql\ue001")[2].partition("\ue002")[0]
        assert len(read(named, tests=True, cluster="id_start", sql=query).cluster_names) == 12


def of_people(count):
    """Votes with both models in both places, by so many people."""
    frame = votes(("a", "b", 30), per_sample=1).with_columns(rater=pl.int_range(pl.len()) % count)
    return frame.with_columns(pl.format("r{}", "rater").alias("rater"))


def worded(count):
    """Samples, each put in one of so many wordings."""
    frame = crossed(model=["a", "b"], id=range(60)).rename({"rate": "f1"}).drop("note")
    return frame.with_columns(template=pl.format("t{}", pl.col("id") % count))


@pytest.mark.parametrize(
    ("frame", "noise"),
    [(of_people(4), {"rater": 4}), (of_people(12), None), (worded(6), {"template": 6}), (worded(12), None)],
)
def test_what_is_drawn_whole_is_noise_where_it_is_few(frame, noise):
    table = read_scores([FrameSource(frame)], RankReading(tests=True))
    assert "is a cluster, drawn whole" in said(table)
    assert (table.noise.levels if table.noise else None) == noise
    assert noise is not None or len(table.cluster_names) == 12


def test_rows_of_a_person_count_once():
    rows = [(f"u{u}", "new" if u % 2 else "old", u + k / 8) for u in range(24) for k in range(5)]
    table = read(pl.DataFrame(rows, schema=["user_id", "variant", "rating"], orient="row"))
    assert (table.paired, [len(values) for values in table.values]) == (False, [12, 12])
    assert "each user_id counts once" in said(table)


@pytest.mark.parametrize(
    ("name", "apart"),
    [("seed", 0), ("seed", 100), ("fit_no", 0), ("replica", 0), ("init", 0), ("restart_id", 0)],
)
def test_runs_that_are_better_on_all_samples_are_no_draws(name, apart):
    """Numbers that begin anew with every run name the same samples; models may have seeds of their own."""
    frame = crossed(optimizer=["a", "b"], seed=range(4), example=range(60))
    frame = frame.with_columns(
        f1=(pl.col("example") * 7 % 11 + (pl.col("example") + pl.col("seed")) % 4) / 14
    )
    frame = frame.drop("note", "rate")
    own = pl.col("seed") + apart * (pl.col("optimizer") == "b")
    assert read_scores([FrameSource(frame.rename({"seed": name}))], RankReading(tests=True)).has_draws
    unlike = frame.with_columns(f1=pl.col("f1") + pl.col("seed") / 5, seed=own).rename({"seed": name})
    for ask in (rr.rank, partial(rr.gate, better="a:b")):
        with pytest.raises(InputError, match=f"runs of a {name} are better or worse") as caught:
            ask(unlike)
        assert [f'noise="{name}"' in str(caught.value), len(caught.value.ways)] == [True, 1]
    asked = RankReading(tests=True, noise=(name,), columns="model=optimizer,sample=example", wide=True)
    design = read_scores([FrameSource(unlike)], asked).noise
    assert (design.levels, np.isnan(design.values).any()) == ({name: 4}, False)


@pytest.mark.parametrize(("name", "told"), [("seed", False), ("fit_no", False), ("attempt", True)])
def test_two_runs_that_were_trained_do_not_tell_how_others_would_do(name, told):
    frame = crossed(optimizer=["a", "b"], seed=range(2), example=range(60)).drop("note", "rate")
    frame = frame.with_columns(f1=pl.Series(np.random.default_rng(1).random(240))).rename({"seed": name})
    if told:
        assert rr.rank(frame, resamples=200).rows
        return
    with pytest.raises(InputError, match="two do not tell") as caught:
        rr.rank(frame)
    assert caught.value.ways == ()
    assert rr.rank(
        frame,
        columns=f"model=optimizer,sample=example,draw={name}",
        wide=True,
        repeats="draws",
        resamples=200,
    )


def test_places_are_asked_about_the_first_of_which_is_best():
    places = np.array([RNG.permutation(3) + 1 for _ in range(N)])
    frame = pl.DataFrame({"dataset": QUESTIONS, **dict(zip("abc", places.T, strict=True))})
    with pytest.raises(InputError, match="several ways") as caught:
        read(frame, tests=True)
    assert "lower" in caught.value.ways[0][0]


def test_the_length_of_a_sample_is_no_cost_of_a_model():
    frame = crossed(system=["a", "b"], clip=QUESTIONS).rename({"rate": "WER"})
    frame = frame.with_columns(duration_s=pl.col("clip").str.slice(1).cast(pl.Int64) / 7)
    assert [metric.name for metric in read(frame).metrics] == ["WER"]


UNEVEN = ("atlas", "weak", 8), ("boreas", "strong", 2), ("atlas", "boreas", 5)


@pytest.mark.parametrize("per_sample", [1, 3])
def test_models_that_met_others_are_compared_by_votes_between_them(per_sample):
    frame = votes(*UNEVEN, per_sample=per_sample)
    with pytest.raises(InputError, match="may have met weaker") as caught:
        read(frame)
    assert "atlas and strong met 0 times" in caught.value.found
    assert "unpaired" not in str(caught.value)
    assert len(caught.value.ways) == len(UNEVEN)
    table = read(frame, models=("atlas", "boreas"))
    assert [values.mean() for values in table.values] == pytest.approx([0, 0])
    assert len(table.samples) == 40
    with pytest.raises(InputError, match="boreas and weak met 0 times"):
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
    assert "correct those of the judge" in said(table)


def test_shares_beside_percent_are_refused():
    frame = pl.DataFrame({"item": QUESTIONS, "a": RNG.random(N), "b": 95 * RNG.random(N) + 1.6})
    with pytest.raises(InputError, match="two units"):
        read(frame)


def test_means_cannot_be_tested():
    with pytest.raises(InputError, match="nothing can be tested from means"):
        read(pl.DataFrame({"model": ["a", "b"], "accuracy_mean": [0.4, 0.5], "accuracy_std": [0.1, 0.1]}))
    with pytest.raises(InputError) as caught:
        read(pl.DataFrame({"trial": range(N), "value": RNG.random(N)}))
    assert "cannot be tested" in caught.value.hint


def test_several_readings_are_lines_to_copy():
    frame = crossed(who=["a", "b"], question=QUESTIONS).with_columns(place=pl.col("who").str.to_uppercase())
    with pytest.raises(InputError, match="several ways to read it") as caught:
        read(frame.rename({"rate": "f1"}))
    assert [way.split(",")[0] for way, _ in caught.value.ways] == [
        "\ue000columns\ue001model=who",
        "\ue000columns\ue001model=place",
    ]


def test_holes_of_a_leaderboard_are_no_failures():
    """The line to copy compares on the tasks that all models have."""
    board = {"model": ["a", "b", "c"], "rank": [1, 2, 3], "params_b": [7, 13, 70]}
    board |= {f"task{at}": [None if at == 3 else 0.3, 0.5, 0.4 + at / 40] for at in range(14)}
    with pytest.raises(InputError, match="no score for model 'a'") as caught:
        read(pl.DataFrame(board))
    assert "leaves out 1 of 14 samples" in caught.value.hint
    ((way, _),) = caught.value.ways
    assert "drop" in way
    assert len(read(pl.DataFrame(board), columns="model=model", matrix="score", missing="drop").samples) == 13


BOARD = pl.DataFrame(
    {"name": ["Ursa", "Lynx", "Vega"], **{f"t{at}": [0.2, None if at < 3 else 0.3, 0.5] for at in range(9)}}
)


@pytest.mark.parametrize(
    ("frame", "options", "ways"),
    [
        (BOARD.rename({"name": "model"}), {"matrix": "acc"}, ["model=model", "sample=model"]),
        (BOARD, {"matrix": "acc"}, ["model=name", "sample=name"]),
        (BOARD, {}, ["model=name", "sample=name"]),
    ],
    ids=["a matrix of models' rows", "a matrix of named rows", "named rows"],
)
def test_rows_that_may_be_models_are_asked_about_before_tasks_are_ranked(frame, options, ways):
    with pytest.raises(InputError, match="several ways to read it") as caught:
        read(frame, **options)
    assert [
        way.split("\ue001")[1].split("\ue002")[0] for way, _ in caught.value.ways if "columns" in way
    ] == ways
    assert len(read(frame, columns=f"sample={frame.columns[0]}", matrix="acc", missing="drop").models) == 9


@pytest.mark.parametrize("names", [["mmlu", "gsm8k", "arc_challenge", "BBH", "musr", "ifeval"], None])
def test_columns_called_as_benchmarks_are_tasks(names):
    names = names or [f"dataset_{at}" for at in range(6)]
    frame = BOARD.drop("t1", "t2", "t0").rename(
        dict(zip([f"t{at}" for at in range(3, 9)], names, strict=True))
    )
    table = read(frame)
    assert "a leaderboard" in said(table)
    assert table.models == ("Lynx", "Ursa", "Vega")
    assert "a wide table" in said(read(frame, sample_optional=True, allow_constant=True))


def board_of(kind):
    """The same board with holes as a row a model, a row a task, and a row a score."""
    long = BOARD.rename({"name": "model"}).unpivot(
        index="model", variable_name="benchmark", value_name="accuracy"
    )
    if kind == "models":
        return BOARD.rename({"name": "model"})
    return (
        long.drop_nulls() if kind == "scores" else long.pivot("model", index="benchmark", values="accuracy")
    )


@pytest.mark.parametrize("kind", ["models", "tasks", "scores"])
def test_check_says_which_tasks_and_models_leave_the_holes_of_a_board(kind):
    found = rr.check(board_of(kind))
    holes = [(hole.sample, hole.models) for hole in found.document.inspection.holes]
    assert holes == [(f"t{at}", ("Lynx",)) for at in range(3)]
    assert "3 of 27 scores: t0 lacks Lynx; t1 lacks Lynx; t2 lacks Lynx." in " ".join(found.to_text().split())
    (line,) = [one.command for one in found.document.suggestions if one.command.startswith("riskrank rank")]
    assert "--missing shared" in line
    assert rr.rank(board_of(kind)).to_csv() == rr.rank(board_of(kind), missing="shared").to_csv()
    assert rr.check(board_of(kind).head(2)).document.inspection.apart == ()


def test_pairs_that_share_too_few_tasks_are_named():
    frame = board_of("models").with_columns(*(pl.lit(None, pl.Float64).alias(f"t{at}") for at in (7, 8)))
    frame = pl.concat([frame[:2], board_of("models")[2:]])
    assert rr.check(frame).document.inspection.apart == (("Lynx", "Ursa"), ("Lynx", "Vega"))


@pytest.mark.parametrize("lost", [1, 9])
def test_dropping_above_a_fifth_says_that_the_rest_is_another_population(lost):
    full = crossed(model=["a", "b"], sample=QUESTIONS)
    for frame in (
        full.with_columns(rate=pl.when(pl.int_range(2 * N) % N >= lost).then("rate")),
        full.filter((pl.int_range(2 * N) >= lost) & (pl.int_range(2 * N) < 2 * N)),
    ):
        with pytest.raises(InputError) as caught:
            read(frame)
        assert f"leaves out {lost} of {N} samples" in caught.value.hint
        assert ("another population" in caught.value.hint) == (5 * lost > N)


def in_words(yes, no):
    return pl.when(pl.col("rate") > 0.4).then(pl.lit(yes)).otherwise(pl.lit(no)).alias("rate")


@pytest.mark.parametrize(("yes", "no"), [("passed", "failed"), ("Ja", "nein "), ("YES", "no"), ("sí", "no")])
def test_outcomes_in_words_are_counted_and_said(yes, no):
    frame = crossed(build=["a", "b"], test_case=QUESTIONS).drop("note").rename({"rate": "outcome"})
    words = frame.rename({"outcome": "rate"}).with_columns(in_words(yes, no)).rename({"rate": "outcome"})
    table = read(words)
    assert said(table).endswith(f"; {yes.lower()} counts 1 and {no.strip()} 0")
    expected = frame.group_by("build").agg((pl.col("outcome") > 0.4).sum()).sort("build")["outcome"].to_list()
    assert [scores.sum() for scores in table.values] == expected


@pytest.mark.parametrize(
    ("name", "words", "beside", "lost", "metrics"),
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
def test_words_that_judge_are_scores_beside_numbers_but_flags_and_failures_are_not(
    name, words, beside, lost, metrics
):
    frame = crossed(system=["a", "b"], question=QUESTIONS).drop("note")
    frame = frame.with_columns(frame["rate"].alias("number"), in_words(*words)).rename({"rate": name})
    failed = pl.col(name) == words[1] if lost else pl.lit(value=False)
    table = frame.with_columns(pl.when(~failed).then("number").alias(beside)).drop("number")
    found = read(table, missing="drop" if lost else "error")
    assert sorted(spec.name for spec in found.metrics) == metrics
    assert ("counts 1" in said(found)) == (name in metrics)
    if words[0] != "ok":
        assert [spec.name for spec in read(table, metric=(name,)).metrics] == [name]


def test_words_beside_models_of_numbers_are_no_model():
    frame = pl.DataFrame({"ticket": QUESTIONS, "gpt": RNG.random(N), "claude": RNG.random(N)})
    table = read(frame.with_columns(result=pl.Series(["resolved", "unresolved"] * (N // 2))))
    assert (table.models, "counts 1" in said(table)) == (("claude", "gpt"), False)


def test_fewer_rows_than_columns_of_text_are_not_searched_for_models(monkeypatch):
    frame = pl.DataFrame({f"c{at}": ["x", "y", f"z{at % 3}"] for at in range(30)})
    monkeypatch.setattr("riskrank.scores.layouts.long_and_wide.keys_of", None)
    with pytest.raises(InputError, match="missing columns"):
        read(frame)


def test_filled_stars_are_counted():
    frame = crossed(cook=["a", "b"], recipe=QUESTIONS).drop("note", "rate")
    count = pl.int_range(pl.len()) % 6
    stars = [pl.lit(sign).repeat_by(many).list.join("") for sign, many in (("★", count), ("☆", 5 - count))]
    table = read(frame.with_columns(stars=pl.concat_str(stars)))
    assert said(table).endswith("; each filled star counts 1")
    assert [scores.sum() for scores in table.values] == [4 * 15, 4 * 15]


def test_a_third_word_is_no_outcome_unless_it_says_that_there_is_none():
    frame = (
        crossed(build=["a", "b"], test_case=QUESTIONS).drop("note").with_columns(in_words("passed", "failed"))
    )
    with_third = [
        frame.with_columns(rate=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(word)).otherwise("rate"))
        for word in ("flaky", "skipped")
    ]
    with pytest.raises(InputError, match="missing column"):
        read(with_third[0])
    assert len(read(with_third[1], missing="drop").samples) == N - 1


def alike(found):
    return [text for text in found.warnings if "count alike" in text]


@pytest.mark.slow
def test_weights_nobody_gave_are_named_where_metrics_are_folded():
    frame = crossed(model=["a", "b"], request=QUESTIONS).rename({"rate": "accuracy"})
    frame = frame.with_columns(cost_usd=pl.col("accuracy") * 2, latency_s=pl.Series(RNG.random(2 * N)))
    quick = {"resamples": 50, "jobs": 1}
    (text,) = alike(rr.rank(frame, **quick))
    assert text.startswith("accuracy, cost_usd, latency_s count alike, as no weights were given")
    assert 'weights="accuracy=5"' in text
    for said in (
        {"weights": {"accuracy": 5}},
        {"weights": "equal"},
        {"per_metric": True},
        {"metric": "accuracy"},
    ):
        assert not alike(rr.rank(frame, **quick, **said)), said
    told = {"columns": "model=model,sample=request", "wide": True, "lower": ["cost_usd", "latency_s"]}
    assert alike(rr.rank(frame, **quick, **told))
    fine = frame.rename({"cost_usd": "f1"}).drop("latency_s")
    assert alike(rr.rank(fine, **quick))
    assert not alike(rr.rank(fine, columns="model=model,sample=request", wide=True, **quick))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dienst;Frage;Zeit;Last\na;1;640;38,5\nb;1;1.650;38,5\n", {640.0, 1650.0}),
        ("Dienst;Frage;Zeit\na;1;640\nb;1;1.650\n", {640.0, 1650.0}),
        ("Dienst;Frage;Zeit\na;1;2\nb;1;1.655\n", {2.0, 1.655}),
        ("Dienst;Frage;Zeit\na;1;0.640\nb;1;1.650\n", {0.64, 1.65}),
    ],
)
def test_other_cells_tell_what_stands_between_thousands(tmp_path, text, expected):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    options = ReadOptions(columns="model=Dienst,sample=Frage", wide=True, metric=("Zeit",), lower=("Zeit",))
    found = read_scores([str(tmp_path / "t.csv")], options)
    assert {-float(values[0, 0]) for values in found.values} == expected


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (RNG.exponential(3, 2 * N), "lower"),
        (RNG.uniform(2, 9, 2 * N), "no line to copy"),
        (RNG.integers(1, 6, 2 * N), "higher"),
    ],
)
def test_numbers_under_a_name_that_says_nothing_are_asked_about(values, first):
    frame = crossed(model=["a", "b"], sample=QUESTIONS).drop("rate").with_columns(zorp=pl.Series(values))
    with pytest.raises(InputError, match="which way is better of zorp") as caught:
        read(frame, tests=True)
    assert first in str(caught.value.ways[0][0] if caught.value.ways else "no line to copy")


@pytest.mark.parametrize(
    ("yes", "no", "way"),
    [
        ("supported", "unsupported", ""),
        ("juist", "onjuist", ""),
        ("解決", "未解決", ""),
        ("başarılı", "başarısız", ""),
        ("nicht bestanden", "bestanden", "lower"),
        ("cached", "uncached", "higher"),
        ("toxic", "non-toxic", "lower"),
        ("हाँ", "नहीं", ""),
    ],
)
def test_a_word_beside_its_negation_judges_and_what_only_readers_know_is_asked(yes, no, way):
    """The bare word is good where it says so; a count of words is no score in its place."""
    frame = crossed(summarizer=["a", "b"], document=QUESTIONS).drop("note").with_columns(in_words(yes, no))
    frame = frame.rename({"rate": "सही" if yes == "हाँ" else "finding"}).with_columns(
        n_words=pl.Series([5, 7] * N)
    )
    good = yes if way != "lower" or yes == "toxic" else no
    count = [(frame.filter(summarizer=name)[frame.columns[2]] == good).sum() for name in "ab"]
    if way and yes != "nicht bestanden":
        with pytest.raises(InputError, match="several ways to read it") as caught:
            read(frame)
        assert way in caught.value.ways[0][0]
        return
    table = read(frame)
    assert [spec.name for spec in table.metrics] == [frame.columns[2]]
    assert [scores.sum() for scores in table.values] == count


@pytest.mark.parametrize("sort", [["conv", "bot"], ["conv", "stelle"]])
def test_what_counts_the_parts_of_each_whole_is_no_score(sort):
    frame = crossed(bot=["a", "b"], conv=QUESTIONS, stelle=[1, 2, 3, 4]).rename({"rate": "rating"})
    table = read(frame.sort(*sort, maintain_order=True).rename({"conv": "conversation"}))
    assert [spec.name for spec in table.metrics] == ["rating"]
    assert "sample (conversation+stelle)" in said(table)
    assert "each conversation is a cluster" in said(table)


def numbered(**levels):
    """As `crossed`, with a number of its own for each row, and a count that is the same for no two."""
    frame = crossed(**levels).rename({"rate": "f1"})
    return frame.with_columns(run_id=pl.format("r-{}", pl.int_range(pl.len()).shuffle(7)))


ALIKE = [
    # What numbers each row names no sample where others are met with every model.
    (numbered(arch=["a", "b"], dataset=["x", "y", "z"], seed=[*range(4)]), {}, "sample (seed)", ("a", "b")),
    # What a claim or the caller names tells which column holds it.
    (
        numbered(mode=["on", "off"], place=[*"pqrs"], commit=QUESTIONS),
        {"models": ("on", "off")},
        "sample (",
        ("off", "on"),
    ),
    # An option says what is measured though one model is called as a metric is.
    (
        pl.DataFrame({"ticket": QUESTIONS} | {name: RNG.random(N) * 3 for name in ("elo", "glicko", "bt")}),
        {"matrix": "loss"},
        "",
        ("bt", "elo", "glicko"),
    ),
    # A count beside fractions is no model.
    (
        pl.DataFrame(
            {"request": QUESTIONS, "sent": [*range(9000, 9000 + N)], "p": RNG.random(N), "q": RNG.random(N)}
        ),
        {},
        "left out: sent",
        ("p", "q"),
    ),
    # Kinds of people are no models where something else was tried on each of them.
    (
        crossed(shoe=["s", "t"], athlete=QUESTIONS).with_columns(
            kind=pl.when(pl.col("athlete").is_in(QUESTIONS[:9])).then(pl.lit("m")).otherwise(pl.lit("f"))
        ),
        {},
        "model (shoe)",
        ("s", "t"),
    ),
]  # fmt: skip


ENDS = pl.Series([("passed", "failed", "error", "skipped", "passed")[at * 7 % 11 % 5] for at in range(2 * N)])
MARKS = pl.Series([at**2 % 7 / 4 for at in range(N)])
FOOT = pl.DataFrame(
    {"zadanie": [*QUESTIONS, "Σ"], "a": [*MARKS, MARKS.mean()], "b": [*(MARKS / 2), MARKS.mean() / 2]}
)
ALIKE += [
    # Few runs on each of many data sets are runs, and no samples.
    (crossed(arch=["a", "b"], dataset=[*"klmnopqrstu"], seed=[0, 1, 2]), {}, "runs of a dataset", ("a", "b")),
    # What sums up the others is no sample, whatever it is called.
    (FOOT, {"matrix": "loss"}, "without the row Σ", ("a", "b")),
    (FOOT, {"matrix": "loss", "models": ("a", "b")}, "without the row Σ", ("a", "b")),
    # How tests ended is what is measured; how long they took is not.
    (
        crossed(agent=["a", "b"], testcase=QUESTIONS).rename({"rate": "time"}).with_columns(status=ENDS),
        {"missing": "keep"},
        " takes it back; passed counts 1 and error, failed 0",
        ("a", "b"),
    ),
    # Beside a score it is none.
    (
        crossed(agent=["a", "b"], case=QUESTIONS).rename({"rate": "f1"}).with_columns(status=ENDS),
        {},
        "a column a metric (f1)",
        ("a", "b"),
    ),
    # Tags before answers judge them.
    (
        pl.DataFrame(
            {"question": QUESTIONS}
            | {"xy"[n]: [f"[{'PASS' if at % (n + 2) else 'FAIL'}] {at}" for at in range(N)] for n in (0, 1)}
        ),
        {},
        "pass counts 1 and fail 0",
        ("x", "y"),
    ),
    # Percent are read where some are not there, as people write it.
    (
        pl.DataFrame({"ward": QUESTIONS} | {m: ["n.d.", *[f"{at},5 %" for at in range(1, N)]] for m in "xy"}),
        {"matrix": "share", "missing": "drop"},
        "a matrix",
        ("x", "y"),
    ),
    # What was read off a sample in numbers and text is no score beside whether it is right.
    (
        crossed(extractor=["a", "b"], field=QUESTIONS).rename({"rate": "match"}).with_columns(
            pl.col("match") > 0.5, got=pl.Series([f"{at}" if at % 3 else f"{at}?" for at in range(2 * N)])
        ),
        {},
        "got (numbers and text)",
        ("a", "b"),
    ),
    # Objects within objects have fields of their own.
    (
        crossed(llm=["a", "b"], id=QUESTIONS).with_columns(
            scores=pl.struct(choice=pl.struct(value=pl.Series(["C", "I", "C"] * 16), answer=pl.lit("B")))
        ).drop("rate"),
        {},
        "scores.choice.value); ",
        ("a", "b"),
    ),
    # Tasks that are each scored by a metric of their own are one suite.
    (
        crossed(model=["a", "b"], task=QUESTIONS)
        .with_columns(metric=pl.Series(["acc", "f1"] * N), stderr=0.01)
        .rename({"rate": "value"}),
        {},
        "each task by a metric of its own",
        ("a", "b"),
    ),
    # What tells how popular a model is is no task.
    (
        pl.DataFrame({"model": ["a", "b"], **{f"task{at}": [at, 9] for at in range(8)}, "likes": [7, 9]}),
        {},
        "left out: likes",
        ("a", "b"),
    ),
    # What one column holds alone another may hold too: neither names models.
    (
        pl.DataFrame({"uid": QUESTIONS, "control": [0, 1, 0] * (N // 3), "treatment": [1, 1, 0] * (N // 3)}),
        {"matrix": "score"},
        "a column a model (control, treatment)",
        ("control", "treatment"),
    ),
    (
        pl.DataFrame({"visit": QUESTIONS, "control": [0, 1, 0] * (N // 3), "variant": [1, 1, 0] * (N // 3)}),
        {"matrix": "score"},
        "a column a model (control, variant)",
        ("control", "variant"),
    ),
    # How a prompt is worded is compared only where nothing else is.
    (
        crossed(item=QUESTIONS, template=["short", "long"], net=["a", "b"]).rename({"rate": "hit"}),
        {},
        "model (net)",
        ("a", "b"),
    ),
    # What several have rated is averaged over them, whoever was rated.
    (
        crossed(poem=QUESTIONS, grader=["j", "k"], writer=["a", "b", "c"]).rename({"rate": "stars"}),
        {},
        "averaged over grader",
        ("a", "b", "c"),
    ),
    # A grade names no models, though it is one that a model gave.
    (
        crossed(tutor=["a", "b"], essay=QUESTIONS).rename({"rate": "f1"}).with_columns(
            llm_grade=pl.Series([3, 4, 5, 4] * (N // 2))
        ),
        {"higher": ("llm_grade",)},
        "model (tutor)",
        ("a", "b"),
    ),
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(ALIKE)))
def test_what_is_met_with_every_model_tells_samples_from_models(at):
    frame, options, words, models = ALIKE[at]
    table = read(frame, **options)
    assert table.models == models
    assert words in "".join(text for text in table.warnings if text.startswith("Read as "))


def test_how_long_tests_took_is_no_score_beside_whether_they_pass():
    frame = crossed(agent=["a", "b"], classname=QUESTIONS).with_columns(time=pl.col("rate") * 3)
    table = read(frame.with_columns(in_words("passed", "failed")).rename({"rate": "status"}))
    assert [spec.name for spec in table.metrics] == ["status"]
    assert "time (how long it took)" in said(table)


@pytest.mark.parametrize(("clean", "seen"), [("no", "yes"), ("unseen", "seen"), (0, 1)])
def test_samples_a_model_may_have_seen_are_not_taken_without_a_word(clean, seen):
    frame = crossed(model=["a", "b"], item=QUESTIONS).with_columns(
        contaminated=pl.when(pl.col("item").is_in(QUESTIONS[:9])).then(pl.lit(seen)).otherwise(pl.lit(clean))
    )
    with pytest.raises(InputError, match="seen in training") as caught:
        read(frame.rename({"rate": "f1"}))
    where = caught.value.ways[0][1].where if caught.value.ways[0][1] else caught.value.hint
    assert f"= '{clean}'" in where
    table = read(frame.rename({"rate": "f1"}), where=f"contaminated = {clean!r}")
    assert "of the rows where contaminated" in said(table)
    assert len(table.samples) == N - 9


def test_tasks_whose_names_end_in_their_metrics_are_a_board():
    names = [
        "QA - F1",
        "Open QA - EM",
        "Math - Equivalent",
        "Summaries - ROUGE-2",
        "WMT - BLEU-4",
        "BoolQ - EM",
    ]
    frame = pl.DataFrame({"Model": ["a", "b"], **{name: RNG.random(2) for name in names}})
    assert "a leaderboard" in said(read(frame))
    with pytest.raises(InputError, match="nothing can be tested from means"):
        read(frame.rename(dict(zip(names, ["val_f1", "val_em", "f1", "em", "bleu", "rouge"], strict=True))))


def test_outcomes_in_columns_called_as_models_are_a_matrix_and_one_such_column_names_models():
    outcomes = [pl.Series(name, ["pass", "fail", "pass"] * (N // 3)) for name in ("build_41", "build_42")]
    assert read(pl.DataFrame({"case": QUESTIONS}).with_columns(outcomes)).models == ("build_41", "build_42")
    frame = crossed(build=["pass", "fail"], case=QUESTIONS).rename({"rate": "f1"})
    assert read(frame).models == ("fail", "pass")


def test_one_model_is_too_few_under_whatever_name():
    with pytest.raises(InputError, match="at least 2 models"):
        read(crossed(model_name=["a"], clip=QUESTIONS).rename({"rate": "map"}))


@pytest.mark.filterwarnings("error")
def test_a_column_without_a_number_is_one_of_no_model():
    gone = pl.Series("b", ["nan", "x", "nan"] * (N // 3))
    with pytest.raises(InputError, match="missing columns"):
        read(pl.DataFrame({"case": QUESTIONS, "-1.2e-23": RNG.random(N) * 1e9}).with_columns(gone))
