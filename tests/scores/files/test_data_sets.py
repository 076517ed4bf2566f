"""Folders of parts as one table: keys, counted files, and the same result as for a single file."""

import gzip
import io
import json
import os
from pathlib import Path
from urllib.parse import quote

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, RiskrankError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.render.files import check_writable
from riskrank.scores.files import paths
from riskrank.scores.files.derived import DataSetSource
from riskrank.scores.files.opening import open_sources
from riskrank.scores.files.parquet import ParquetSource
from riskrank.scores.files.paths import candidate_files, labelled_paths, list_parts
from riskrank.scores.layouts.preferences import read_votes
from riskrank.scores.table.score_table import read_scores
from tests.scores.comparison import assert_equal_tables

MODELS = ["a", "b b", "org/c", "007"]


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    keys = [(model, f"s{n}", metric) for model in MODELS for n in range(12) for metric in ("acc", "loss")]
    rows = [(*key, "x" * 20, value) for key, value in zip(keys, rng.random(len(keys)).round(3), strict=True)]
    return pl.DataFrame(rows, schema=["model", "sample", "metric", "response", "score"], orient="row")


def encoded(frame, suffix):
    buffer = io.BytesIO()
    kind = suffix.removesuffix(".gz")
    {"parquet": frame.write_parquet, "csv": frame.write_csv, "jsonl": frame.write_ndjson}[kind](buffer)
    return gzip.compress(buffer.getvalue(), mtime=0) if suffix.endswith(".gz") else buffer.getvalue()


def write_partitioned(frame, folder, keys, suffix="parquet", repeated_keys=()):
    """Write one file per combination of keys, like writers of partitioned tables."""
    for values, rows in frame.group_by(*keys, maintain_order=True):
        names = [f"{key}={quote(str(value), safe='')}" for key, value in zip(keys, values, strict=True)]
        directory = Path(folder, *names)
        directory.mkdir(parents=True)
        columns = [name for name in frame.columns if name not in keys or name in repeated_keys]
        for number, part in enumerate([rows[: len(rows) // 2], rows[len(rows) // 2 :]]):
            (directory / f"part-{number}.{suffix}").write_bytes(encoded(part.select(columns), suffix))
    return str(folder)


@pytest.fixture
def single_file(frame, tmp_path):
    frame.write_parquet(tmp_path / "one.parquet")
    return str(tmp_path / "one.parquet")


@pytest.mark.parametrize(
    ("suffix", "keys"),
    [
        ("parquet", ("metric", "model")),
        ("csv", ("model",)),
        ("csv.gz", ("metric", "model")),
        ("jsonl", ("model",)),
    ],
)
def test_partitioned_table_equals_a_single_file(frame, single_file, tmp_path, suffix, keys):
    runs = write_partitioned(frame, tmp_path / "runs", keys, suffix)
    assert_equal_tables(read_scores([runs]), read_scores([single_file]))


def test_folders_without_keys_are_read(frame, single_file, tmp_path):
    for number, (_, rows) in enumerate(frame.group_by("model", maintain_order=True)):
        place = tmp_path / "runs" / f"day {number}" / "x"
        place.mkdir(parents=True)
        rows.write_csv(place / "scores.csv")
    assert_equal_tables(read_scores([str(tmp_path / "runs")]), read_scores([single_file]))


def study_contents(path):
    """Yield the contents of several results, without their input files."""
    for result in (
        rr.rank(path, lower="loss", resamples=200, jobs=1),
        rr.rank(path, no_test=True, where="model <> 'a' AND metric = 'acc'"),
        rr.dominance(path, no_test=True, wide=True, sql=PIVOT, lower="loss"),
        rr.check(path, lower="loss"),
        rr.portfolio(path, lower="loss"),
    ):
        document = json.loads(result.to_json())
        document["meta"].pop("inputs")
        # A check ends with commands to copy.
        yield json.dumps(document).replace(path, "PATH"), result.to_csv()


PIVOT = (
    "SELECT model, sample, SUM(CASE WHEN metric = 'acc' THEN score END) AS acc, "
    "SUM(CASE WHEN metric = 'loss' THEN score END) AS loss FROM scores GROUP BY model, sample"
)


@pytest.mark.slow
def test_results_equal_those_of_a_single_file(frame, single_file, tmp_path):
    """A query sees the whole table: SUM over metrics in different files."""
    runs = write_partitioned(frame, tmp_path / "runs", ["metric", "model"])
    assert list(study_contents(runs)) == list(study_contents(single_file))


def test_directory_order_does_not_matter(frame, tmp_path, monkeypatch):
    runs = write_partitioned(frame, tmp_path / "runs", ["metric", "model"])
    results = [rr.rank(runs, lower="loss", no_test=True).to_json()]
    original = os.scandir

    class Reversed:
        def __init__(self, path):
            with original(path) as entries:
                self.entries = sorted(entries, key=lambda entry: entry.name, reverse=True)

        def __enter__(self):
            return iter(self.entries)

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(os, "scandir", Reversed)
    results.append(rr.rank(runs, lower="loss", no_test=True).to_json())
    assert results[0] == results[1]
    paths = [entry["path"] for entry in json.loads(results[0])["meta"]["inputs"]]
    assert paths == sorted(paths)
    assert len(paths) == 16
    assert paths[0] == f"{runs}/metric=acc/model=007/part-0.parquet"


def test_only_needed_columns_of_needed_parts_are_read(frame, tmp_path, monkeypatch):
    runs = write_partitioned(frame, tmp_path / "runs", ["metric", "model"])
    loaded = []
    original = ParquetSource.load

    def watched(self, names):
        loaded.append((os.path.relpath(self.label, runs), tuple(names)))
        return original(self, names)

    monkeypatch.setattr(ParquetSource, "load", watched)
    read_scores([runs], ReadOptions(where="metric = 'acc'"))
    assert {names for _, names in loaded} == {("sample",), ("score",)}
    assert {path.split("/")[0] for path, _ in loaded} == {"metric=acc"}


def test_condition_reports_rows_per_part(frame, tmp_path):
    runs = write_partitioned(frame, tmp_path / "runs", ["metric", "model"])
    options = ReadOptions(where="metric = 'loss' AND model <> '007' AND sample <> 's0'")
    table = read_scores([runs], options)
    assert [entry.rows for entry in table.inputs] == [5, 6, 5, 6, 5, 6]
    assert all("metric=loss" in entry.path and "007" not in entry.path for entry in table.inputs)


def test_keys_are_text_outside_queries(frame, tmp_path):
    frame = frame.with_columns(fold=pl.col("sample").str.slice(1).cast(pl.Int64) % 3)
    runs = write_partitioned(frame, tmp_path / "runs", ["fold"])
    assert len(read_scores([runs], ReadOptions(where="fold >= 1")).samples) == 8
    assert read_scores([runs], ReadOptions(group_by="fold")).groups is not None
    frame = frame.with_columns(fold=pl.concat_str(pl.lit("0"), "fold"))
    runs = write_partitioned(frame, tmp_path / "zeros", ["fold"])
    assert len(read_scores([runs], ReadOptions(where="fold = '01'")).samples) == 4


@pytest.mark.parametrize("shape", [{"wide": True}, {"matrix": "acc"}])
def test_numeric_keys_are_not_metrics_or_models(tmp_path, shape):
    names = ["model", "sample"] if "wide" in shape else ["sample"]
    for fold in (1, 2):
        rows = {"model": ["a", "b"] * 3, "sample": [f"{fold}{n // 2}" for n in range(6)]}
        rows = {name: rows[name] for name in names} | {"x": [0.1, 0.2, 0.3, 0.4, 0.5, fold], "y": [0.3] * 6}
        place = tmp_path / "runs" / f"fold={fold}"
        place.mkdir(parents=True)
        frame = pl.DataFrame(rows)
        (frame if "wide" in shape else frame[::2]).write_csv(place / "t.csv")
    table = read_scores([str(tmp_path / "runs")], ReadOptions(**shape, allow_constant=True))
    if "wide" in shape:
        assert [metric.name for metric in table.metrics] == ["x", "y"]
    else:
        assert table.models == ("x", "y")


def test_labels_and_patterns_apply_to_folders(frame, single_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_partitioned(frame, "runs", ["metric", "model"])
    expected = read_scores([single_file])
    assert_equal_tables(read_scores(["runs/metric=acc", "runs/metric=loss"]), expected)
    assert_equal_tables(read_scores(["runs/metric=*"]), expected)
    assert_equal_tables(read_scores(["./runs/"]), expected)
    assert read_scores(["new=runs"]).models == tuple(f"new/{name}" for name in sorted(MODELS))
    Path("runs/beside.txt").write_text("no table")
    assert labelled_paths("runs/*") == [(None, "runs/beside.txt")]  # beside files folders are not meant


def test_leftovers_of_writers_are_ignored(frame, single_file, tmp_path):
    runs = Path(write_partitioned(frame, tmp_path / "runs", ["model"]))
    (runs / "_SUCCESS").touch()
    (runs / "model=a" / ".part-0.parquet.crc").write_bytes(b"\0")
    (runs / "_temporary").mkdir()
    (runs / "_temporary" / "half.parquet").write_bytes(b"PAR1")
    (runs / "README.md").write_text("# Runs")
    frame[:0].drop("model").write_parquet(runs / "model=a" / "part-7.parquet")
    assert_equal_tables(read_scores([str(runs)]), read_scores([single_file]))


def test_circular_links_are_followed_once(frame, single_file, tmp_path):
    runs = Path(write_partitioned(frame, tmp_path / "runs", ["model"]))
    (runs / "model=a" / "again").symlink_to(runs)
    (runs / "self").symlink_to(runs)
    assert_equal_tables(read_scores([str(runs)]), read_scores([single_file]))


@pytest.mark.parametrize(
    ("to", "message"), [("/", "cyclic links not followed"), (".", "more than 3 folders")]
)
def test_links_to_outside_folders_are_limited(frame, single_file, tmp_path, monkeypatch, to, message):
    monkeypatch.setattr(paths, "_MAX_LINKED", 3)
    runs = Path(write_partitioned(frame, tmp_path / "runs", ["model"]))
    for at in range(4):
        (tmp_path / "beside" / str(at)).mkdir(parents=True)
    (runs / "out").symlink_to(to if to == "/" else tmp_path / "beside")
    if to == ".":
        assert message in refusal(runs).problem
        return
    table = read_scores([str(runs)])
    assert_equal_tables(table, read_scores([single_file]))
    assert message in str(table.warnings)


def test_nested_folders_of_the_same_key_are_refused(frame, tmp_path):
    runs = write_partitioned(frame, tmp_path / "runs", ["model"])
    (Path(runs) / "model=a").rename(Path(runs) / "model=007" / "model=a")
    assert "two folders in the path give different values of 'model'" in refusal(runs).problem


def test_parts_that_are_not_files_are_refused(frame, tmp_path):
    runs = Path(write_partitioned(frame, tmp_path / "runs", ["model"]))
    (runs / "model=a" / "note.txt").symlink_to(tmp_path / "nowhere")
    assert len(read_scores([str(runs)]).models) == 4
    (runs / "model=a" / "part-2.parquet").symlink_to(tmp_path / "nowhere")
    assert refusal(runs).found == "a broken link"
    (runs / "model=a" / "part-2.parquet").unlink()
    os.mkfifo(runs / "model=a" / "part-2.parquet")
    assert refusal(runs).found == "a pipe, socket or device"
    (runs / "model=a" / "part-2.parquet").unlink()
    (runs / "model=a" / "part-2.parquet").symlink_to("/dev/zero")
    assert refusal(runs).found == "a pipe, socket or device"


@pytest.mark.parametrize("name", [b"model=\xff", b"model=%ff", b"%ed%a0%80=x"])
def test_folder_names_must_be_unicode(frame, tmp_path, name):
    folder = tmp_path / os.fsdecode(name)
    folder.mkdir()
    (folder / "t.parquet").write_bytes(encoded(frame, "parquet"))
    assert "not valid Unicode" in refusal(tmp_path).problem


def test_file_names_may_be_any_bytes(frame, single_file, tmp_path):
    place = tmp_path / "runs" / os.fsdecode(b"\xff")
    place.mkdir(parents=True)
    (place / os.fsdecode(b"\xfe.parquet")).write_bytes(encoded(frame, "parquet"))
    result = rr.rank(str(tmp_path / "runs"), lower="loss", no_test=True)
    assert result.frame.equals(rr.rank(single_file, lower="loss", no_test=True).frame)
    with pytest.raises(InputError, match="JSON cannot contain"):
        result.to_json()


def test_deep_folders(frame, tmp_path):
    place = tmp_path
    for _ in range(300):
        place = place / "d"
    place.mkdir(parents=True)
    frame.write_parquet(place / "t.parquet")
    assert len(read_scores([str(tmp_path)]).models) == 4


@pytest.mark.parametrize("in_file", [True, False])
def test_key_column_in_the_file_may_repeat_the_folder(frame, single_file, tmp_path, in_file):
    runs = write_partitioned(
        frame, tmp_path / "runs", ["metric", "model"], repeated_keys=["model"] if in_file else []
    )
    assert_equal_tables(read_scores([runs]), read_scores([single_file]))


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_key_column_contradicting_the_folder_is_refused(frame, tmp_path, suffix):
    runs = write_partitioned(frame, tmp_path / "runs", ["model"], suffix, repeated_keys=["model"])
    Path(runs, "model=a").rename(Path(runs, "model=z"))
    with pytest.raises(InputError) as caught:
        read_scores([runs])
    assert caught.value.problem.endswith(
        f"model=z/part-0.{suffix}: column 'model' contradicts the folder model=z"
    )
    assert caught.value.found == "'a', in 12 of 12 rows"


@pytest.mark.parametrize(
    ("values", "key", "agrees"),
    [
        ([1, 1], "1", True),
        ([1, 1], "01", True),
        ([1.0, 1.0], "1", True),
        ([1, 2], "1", False),
        ([1, 1], "one", False),
        ([1, None], "1", False),
        ([True, True], "True", True),
        (["1"], "01", False),
        ([" x "], "x", True),
        ([None], "__HIVE_DEFAULT_PARTITION__", True),
        (["x"], "__HIVE_DEFAULT_PARTITION__", False),
    ],
)
def test_agreement_of_key_columns_and_folders(tmp_path, values, key, agrees):
    (tmp_path / f"k={key}").mkdir()
    pl.DataFrame({"k": values, "score": [0.5] * len(values)}).write_parquet(
        tmp_path / f"k={key}" / "t.parquet"
    )
    (source,) = open_sources([str(tmp_path)])
    if not agrees:
        with pytest.raises(InputError, match="column 'k' contradicts the folder"):
            source.load(["k"])
        return
    expected = None if key.startswith("__") else key
    assert source.load(["k"])["k"].to_list() == [expected] * len(values)


def refusal(folder, **options):
    with pytest.raises(InputError) as caught:
        read_scores([str(folder)], ReadOptions(**options))
    lines = caught.value.lines(flags=True)
    assert len(lines) == 3
    assert all(lines)
    return caught.value


def test_nothing_to_read(frame, tmp_path):
    assert refusal(tmp_path).found == "no files"
    (tmp_path / "notes.txt").write_text("x")
    assert "1 files of other formats, such as" in refusal(tmp_path).found
    write_partitioned(frame[:0].with_columns(pl.lit("x").alias("model")), tmp_path / "no", ["model"])
    frame[:0].write_csv(tmp_path / "a.csv")
    frame[:0].write_csv(tmp_path / "b.csv")
    assert "2 files without rows" in refusal(tmp_path).found


def test_mixed_formats_need_a_selection(frame, single_file, tmp_path):
    runs = write_partitioned(frame, tmp_path / "runs", ["model"])
    Path(runs, "meta.json").write_text("{}")
    error = refusal(runs)
    assert error.found == "1 of format json, 8 of format parquet"
    assert error.lines(flags=True)[2].endswith("--input-format parquet")
    assert_equal_tables(read_scores([runs], ReadOptions(input_format="parquet")), read_scores([single_file]))
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "x.xlsx").write_bytes(b"PK")
    assert "have different formats" in refusal(tmp_path / "books").problem
    assert "have different formats" in refusal(tmp_path / "books", input_format="xlsx").problem


def test_parts_without_a_suffix_need_a_format(frame, tmp_path):
    (tmp_path / "part-00000").write_bytes(encoded(frame, "csv"))
    assert "files of other formats" in refusal(tmp_path).found
    assert len(read_scores([str(tmp_path)], ReadOptions(input_format="csv")).models) == 4


def test_part_without_a_required_column_is_refused(frame, tmp_path):
    runs = write_partitioned(frame, tmp_path / "runs", ["model"])
    frame.drop("model").write_parquet(Path(runs) / "stray.parquet")
    error = refusal(runs)
    assert error.problem.endswith("stray.parquet: this file has no column 'model'")
    frame.filter(model="a").with_columns(model=pl.lit("z")).write_parquet(Path(runs) / "stray.parquet")
    assert "z" in read_scores([runs]).models  # a file may name its model itself


def test_metric_absent_from_a_part_is_missing(tmp_path):
    frame = pl.DataFrame({"model": ["a", "b"], "sample": ["1", "1"], "x": [0.1, 0.2], "y": [0.3, 0.4]})
    frame.write_csv(tmp_path / "1.csv")
    frame.drop("y").with_columns(sample=pl.lit("2")).write_csv(tmp_path / "2.csv")
    assert (
        "missing" in refusal(tmp_path, wide=True).problem
        or "no score" in refusal(tmp_path, wide=True).problem
    )


@pytest.mark.parametrize(("folder", "name"), [("_delta_log", "Delta Lake"), (".hoodie", "Hudi")])
def test_tables_with_a_log_are_refused(frame, tmp_path, folder, name):
    """Their folders contain outdated files."""
    frame.write_parquet(tmp_path / "t.parquet")
    (tmp_path / folder).mkdir()
    assert f"a {name} table" in refusal(tmp_path).problem


def test_unreadable_folder_is_refused(frame, tmp_path, monkeypatch):
    runs = write_partitioned(frame, tmp_path / "runs", ["model"])
    original = os.scandir

    def closed(path):
        if str(path).endswith("model=a"):
            raise PermissionError(13, "Permission denied")
        return original(path)

    monkeypatch.setattr(os, "scandir", closed)
    error = refusal(runs)
    assert (error.problem, error.found) == (
        f"{runs}/model=a: the directory cannot be read",
        "Permission denied",
    )


def test_errors_name_the_part_and_its_row(frame, tmp_path):
    wrong = frame.with_columns(pl.col("score").cast(pl.String))
    wrong = wrong.with_columns(
        score=pl.when(pl.int_range(pl.len()) == 31).then(pl.lit("bad")).otherwise("score")
    )
    runs = write_partitioned(wrong, tmp_path / "runs", ["model"], "csv")
    error = refusal(runs)
    assert f"{runs}/model=b%20b/part-0.csv: row 9, column score" in error.problem
    nameless = frame.with_columns(sample=pl.when(pl.int_range(pl.len()) == 31).then(None).otherwise("sample"))
    runs = write_partitioned(nameless, tmp_path / "nameless", ["model"])
    assert (
        f"{runs}/model=b%20b/part-0.parquet: row 8, column sample: the sample has no name"
        in refusal(runs).problem
    )


def test_different_separators_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("model,sample,metric,score\na,1,m,0.5\n")
    (tmp_path / "b.csv").write_text("model;sample;metric;score\nb;1;m;0,5\n")
    assert "has a different separator" in refusal(tmp_path).problem


def test_different_types_are_read_as_text(tmp_path):
    """Integers too large for a float keep their digits; 32-bit floats get the digits of their exact value."""
    large = 2**60 + 1
    frame = pl.DataFrame({"model": ["a"], "sample": [large], "metric": ["m"], "score": [0.1]})
    frame.with_columns(pl.col("score").cast(pl.Float32)).write_parquet(tmp_path / "1.parquet")
    frame.with_columns(model=pl.lit("b"), sample=pl.lit(str(large))).write_parquet(tmp_path / "2.parquet")
    table = read_scores([str(tmp_path)], ReadOptions(allow_constant=True))
    assert table.samples == (str(large),)
    assert [values.item() for values in table.values] == [float(np.float32(0.1)), 0.1]
    frame.with_columns(score=pl.struct(x="score")).write_parquet(tmp_path / "3.parquet")
    with pytest.raises(RiskrankError):
        read_scores([str(tmp_path)])


def test_votes_in_folders(tmp_path):
    for judge in ("x", "y"):
        place = tmp_path / f"judge={judge}"
        place.mkdir()
        (place / "v.csv").write_text(f"sample,model_a,model_b,verdict\n{judge},A,B,a\n")
    table = read_votes([str(tmp_path)])
    assert (table.columns()[0], len(table.inputs)) == (["x", "y"], 2)
    assert table.location(2) == f"{tmp_path}/judge=y/v.csv: row 2"


def test_parts_are_not_overwritten(frame, tmp_path):
    runs = write_partitioned(frame, tmp_path / "runs", ["model"])
    with pytest.raises(UsageError, match="would overwrite an input"):
        check_writable(f"{runs}/model=a/part-0.parquet", candidate_files([runs]))
    check_writable(f"{runs}/ranking.md", candidate_files([runs]))
    elsewhere = tmp_path / "elsewhere"
    (Path(runs) / "model=a").rename(elsewhere)
    (Path(runs) / "model=a").symlink_to(elsewhere)
    (elsewhere / "round").symlink_to(runs)
    with pytest.raises(UsageError, match="would overwrite an input"):
        check_writable(f"{elsewhere}/part-0.parquet", candidate_files([runs]))


def test_keys_come_from_folder_names_only(tmp_path):
    place = tmp_path / "a=1" / "plain" / "b=x=y%2Fz" / "=q"
    place.mkdir(parents=True)
    (place / "c=3.csv").write_text("score\n1\n")
    assert [part.keys for part in list_parts(str(tmp_path))] == [{"a": "1", "b": "x=y/z"}]
    # Keys in the last part of the given path count, those above it do not.
    assert list_parts(str(tmp_path / "a=1"))[0].keys == {"a": "1", "b": "x=y/z"}
    assert list_parts(str(tmp_path / "a=1" / "plain"))[0].keys == {"b": "x=y/z"}


def test_folder_opens_as_a_data_set(single_file, tmp_path):
    (source,) = open_sources([str(tmp_path)])
    assert isinstance(source, DataSetSource)
    assert source.height() == 96


def test_an_index_without_a_name_is_read_in_a_folder(tmp_path):
    for model in ("alpha", "beta"):
        (tmp_path / f"{model}.csv").write_text(",id,acc\n0,q0,0.5\n1,q1,0.25\n")
    (source,) = open_sources([str(tmp_path)])
    assert source.load(["", "id"]).rows() == [("0", "q0"), ("1", "q1")] * 2
    assert source.load([""]).columns == [""]
