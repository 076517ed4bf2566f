"""Arrow and NumPy files, and files that are not what their name says."""

import numpy as np
import polars as pl
import pytest

from riskrank.errors import InputError, mask_secrets
from riskrank.options.reading import ReadOptions
from riskrank.scores.files import guards
from riskrank.scores.files.contents import decompress
from riskrank.scores.files.guards import Budget
from riskrank.scores.files.opening import open_sources
from riskrank.scores.table.score_table import read_scores
from tests.scores.comparison import assert_equal_tables


@pytest.mark.parametrize("name", ["t.arrow", "t.feather", "t.ipc"])
@pytest.mark.parametrize("compression", ["uncompressed", "zstd", "stream"])
def test_arrow_files_give_the_same_table(write, long_frame, tmp_path, name, compression):
    path = tmp_path / name
    if compression == "stream":
        long_frame.write_ipc_stream(path)
    else:
        long_frame.write_ipc(path, compression=compression)
    assert_equal_tables(read_scores([str(path)]), read_scores([write("t.csv", long_frame)]))


def test_damaged_arrow_files_are_refused(tmp_path):
    path = tmp_path / "t.arrow"
    pl.DataFrame({"model": ["a"] * 9}).write_ipc(path)
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(InputError, match="cannot be read as Arrow"):
        open_sources([str(path)])


def test_numpy_files_are_models_with_runs_and_samples(tmp_path):
    for name, shift in (("a", 0.0), ("b", 0.5)):
        np.save(tmp_path / f"{name}.npy", np.arange(6.0).reshape(2, 3) + shift)
    paths = [str(tmp_path / f"{name}.npy") for name in "ab"]
    table = read_scores(paths, ReadOptions(repeats="draws"))
    assert (table.models, len(table.samples)) == (("a", "b"), 3)
    np.save(tmp_path / "row.npy", np.arange(4))
    (source,) = open_sources([str(tmp_path / "row.npy")])
    assert source.load(["sample", "score"]).rows() == [(0, 0.0), (1, 1.0), (2, 2.0), (3, 3.0)]


@pytest.mark.parametrize(
    ("array", "message"), [({"a": [1.0]}, "cannot be read"), (np.zeros((2, 2, 2)), "not a table of scores")]
)
def test_pickles_and_cubes_are_refused(tmp_path, array, message):
    np.save(tmp_path / "t.npy", array, allow_pickle=True)
    with pytest.raises(InputError, match=message):
        open_sources([str(tmp_path / "t.npy")])


def test_numpy_header_that_claims_a_huge_array_is_refused(tmp_path):
    np.save(tmp_path / "t.npy", np.zeros((1, 9)))
    path = tmp_path / "t.npy"
    shape = b"(999999999, 9999999), }"
    path.write_bytes(path.read_bytes().replace(b"(1, 9), }".ljust(len(shape)), shape))
    with pytest.raises(InputError, match="cannot be read"):
        open_sources([str(path)])


def test_pages_and_links_to_nothing_are_named(write, tmp_path):
    with pytest.raises(InputError, match="this is a web page"):
        open_sources([str(write("t.csv", "<!DOCTYPE html>\n<html><head></head></html>\n"))])
    (tmp_path / "link.csv").symlink_to("gone.csv")
    with pytest.raises(InputError, match="the link has no target") as caught:
        open_sources([str(tmp_path / "link.csv")])
    assert "gone.csv" in caught.value.found


def test_latin_text_is_not_taken_for_utf_16():
    data = "ÿþ,model\nx,a\n".encode("latin-1")
    assert decompress("t", data, Budget()) == data
    assert decompress("t", "a,b\n".encode("utf-16"), Budget()) == b"a,b\n"


@pytest.mark.parametrize("code", ["UTF-16LE", "UTF-16BE"])
@pytest.mark.parametrize(
    ("suffix", "text"), [("csv", "model,score\nA,1\n"), ("jsonl", '{"model": "A", "score": 1}\n')]
)
def test_utf_16_without_a_mark_leads_to_a_conversion(tmp_path, code, suffix, text):
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(text.encode(code))
    with pytest.raises(InputError, match="the text is not UTF-8") as caught:
        open_sources([str(path)])
    assert caught.value.hint == f"convert it: iconv -f {code} -t UTF-8 {path} > utf-8.{suffix}"


@pytest.mark.parametrize("line", [b";\n", b",,\n", b" \n", b"\r", b'""\n'])
def test_many_blank_lines_are_an_empty_file(monkeypatch, write, line):
    monkeypatch.setattr(guards, "_MAX_LINES", 100)
    rows = "".join(f"{model},{at},{at % 7}\n" for model in "AB" for at in range(60))
    table = f"model,sample,score\n{rows}"
    assert read_scores([write("t.csv", table + "\n" * 200)]).models == ("A", "B")
    with pytest.raises(InputError, match="the file is empty"):
        open_sources([write("t.csv", line.decode() * 2_000)])


def test_rounded_numbers_are_named(write):
    rows = "".join(f"{m},{at},acc,{2**53 + at + ord(m)}\n" for m in "ab" for at in range(9))
    table = read_scores([write("t.csv", "model,sample,metric,score\n" + rows)])
    assert "acc: whole numbers beyond 2^53 are rounded; subtract a constant" in table.warnings


@pytest.mark.parametrize(("word", "mixed"), [("TRUE", True), ("1", False)])
def test_true_among_other_numbers_is_noted(write, word, mixed):
    """Other metrics of the same column may be binary."""
    cells = [(m, at, metric) for m in "ab" for at in range(9) for metric in ("acc", "ok")]
    scores = {"ok": lambda at: ("true", "false")[at % 2], "acc": lambda at: word if at == 3 else at / 10}
    rows = "".join(f"{m},{at},{metric},{scores[metric](at)}\n" for m, at, metric in cells)
    long = read_scores([write("t.csv", "model,sample,metric,score\n" + rows)])
    rows = "".join(f"{m},{at},{scores['acc'](at)}\n" for m in "ab" for at in range(9))
    wide = read_scores([write("w.csv", "model,sample,acc\n" + rows)])
    notes = [line for table in (long, wide) for line in table.warnings if "count as 1 and 0" in line]
    assert len(notes) == 2 * mixed
    assert all(line.endswith("among the numbers of acc") for line in notes)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("s3://user:SE/CRET@bucket/a.csv", "s3://***@bucket/a.csv"),
        ("https://host/a.csv?X-Amz-Signature=SECRET&b=1", "https://host/a.csv?X-Amz-Signature=***&b=1"),
        ("https://host:8080/a.csv", "https://host:8080/a.csv"),
        ("new=a@b.csv", "new=a@b.csv"),
    ],
)
def test_credentials_are_masked(text, masked):
    assert mask_secrets(text) == masked
    error = InputError(f"{text}: broken", found=text, hint=text)
    assert "SECRET" not in f"{error} {error.problem}"
    assert "CRET" not in str(error)
