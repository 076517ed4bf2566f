import gzip
import json
import zlib

import numpy as np
import polars as pl
import pytest
import zstandard

from riskrank.errors import InputError
from riskrank.scores.files import contents
from riskrank.scores.files.contents import INFLATE, decompress, decompress_head, decompress_members
from riskrank.scores.files.guards import Budget
from riskrank.scores.files.opening import open_sources
from riskrank.scores.files.parsing import parse_json, parse_lines
from tests.memory import memory_below


def test_line_numbers_include_blank_lines():
    lines = list(parse_lines("t.jsonl", b'{"a": 1}\n\n[2]\nnot json\n3'))
    assert [number for number, _ in lines] == [1, 3, 4, 5]
    assert [value for _, value in lines if not isinstance(value, InputError)] == [{"a": 1}, [2], 3]
    assert isinstance(lines[2][1], InputError)
    assert "line 4" in lines[2][1].problem


def test_many_empty_objects_are_refused_uncompressed():
    assert decompress("t", b"[" + b"{}," * 1_600_000, Budget(10**9))
    with pytest.raises(InputError, match="compression ratio is too high"):
        decompress("t", b"[" + b"{}," * 3_200_000, Budget(10**9))


def test_blank_first_line_is_counted():
    assert list(parse_lines("t.jsonl", b"\n7\n")) == [(2, 7)]


@pytest.mark.slow
def test_concatenated_members_and_frames():
    """Empty members in a megabyte of input are visited once, without copies of the rest."""
    text = bytes(range(256)) * 100_000  # more than is unpacked at a time
    for pack in (gzip.compress, zstandard.compress):
        packed, empty = pack(text), pack(b"")
        assert decompress("t", packed + empty * 3 + packed, Budget(10**9)) == text * 2
        with pytest.raises(InputError, match="compression ratio is too high"):
            decompress("t", pack(bytes(21_000_000)) * 10, Budget(10**9))
        assert decompress("t", packed + empty * (1_000_000 // len(empty)), Budget(10**9)) == text


@pytest.mark.parametrize(
    ("piece", "most", "pack"),
    [
        ('[{"a":[[[]]]},', 120_000, zstandard.compress),
        *((piece, 5_000_000, gzip.compress) for piece in ("1,", "x\n")),
        ("a\t1;1\n", 1_600_000, gzip.compress),
    ],
)
def test_density_of_values_and_lines_is_limited(piece, most, pack):
    assert decompress("t", pack(piece.encode() * most), Budget(10**9))
    with pytest.raises(InputError, match="compression ratio is too high"):
        decompress("t", pack(piece.encode() * (2 * most)), Budget(10**9))


@pytest.mark.parametrize("suffix", ["csv.gz", "parquet"])
def test_density_limit_applies_to_all_parts(tmp_path, suffix):
    """Each part is allowed; all of them together are not."""
    if suffix == "parquet":
        rows = pl.repeat(None, 3_000_000, dtype=pl.Float64, eager=True)
        rows.alias("score").to_frame().write_parquet(tmp_path / "1.parquet")
    else:
        text = b"model,sample,metric,score\n" + b"A,1,acc,1\n" * 700_000
        (tmp_path / f"1.{suffix}").write_bytes(gzip.compress(text))
    (tmp_path / f"2.{suffix}").write_bytes((tmp_path / f"1.{suffix}").read_bytes())
    parts = sorted(map(str, tmp_path.iterdir()))
    assert open_sources(parts[:1])[0].load(["score"]).height
    for paths in (parts, [str(tmp_path)]):
        with pytest.raises(InputError, match=f"2.{suffix}: the compression ratio is too high"):
            [source.load(["score"]) for source in open_sources(paths)]


def test_refused_input_uses_no_budget():
    budget = Budget(2 * 10**8)
    for label, size in (("a", 10**8), ("a", 10**8), ("b", 10**7)):
        budget.charge(label, 100, size)
    for packed, size, message in (
        (100, 10**8, "compression ratio is too high"),
        (10**8, 3 * 10**8, "more than"),
    ):
        with pytest.raises(InputError, match=message):
            budget.charge("c", packed, size)
    budget.charge("d", 100, 10**7)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_decompress_head_uses_bounded_memory(pack):
    packed = pack(bytes(50_000_000))
    with memory_below(10_000_000):
        assert decompress_head(packed[:4096], 100) == bytes(100)


def test_following_members_are_not_copied(monkeypatch):
    copied = []

    class Stream:
        def __init__(self, window):
            self._stream = real(window)

        def __getattr__(self, name):
            value = getattr(self._stream, name)
            if name in ("unused_data", "unconsumed_tail"):
                copied.append(len(value))
            return value

    real = zlib.decompressobj
    members = [gzip.compress(bytes(size)) for size in (0, 0, 5, 100_000, 0)] * 800
    data = b"".join(members)
    assert decompress_members("t", data, Budget(10**9), lambda: Stream(31)) == bytes(100_005 * 800)
    assert sum(copied) < 1024 * len(members) + len(data)


def test_trailing_garbage_is_refused():
    with pytest.raises(InputError, match="decompressed"):
        decompress("t", gzip.compress(b"text") + bytes(512) + b"x", Budget(100))


def test_bytes_after_a_raw_stream_are_ignored():
    stream = zlib.compressobj(wbits=-15)
    packed = stream.compress(b"text") + stream.flush()
    assert decompress_members("t", packed + b"more", Budget(100), INFLATE, once=True) == b"text"


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress, lambda data: data])
def test_decompress_round_trip(compress):
    data = json.dumps(list(range(1000))).encode()
    assert decompress("x", compress(data), Budget(10_000)) == data


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_a_bomb_stops_at_the_limit(compress):
    bomb = compress(bytes(50_000_000))
    assert len(bomb) < 100_000
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        decompress("bomb", bomb, Budget(1_000))


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_data_cut_short_is_corrupt(compress):
    data = compress(json.dumps([i * 7919 for i in range(5000)]).encode())
    for size in (len(data) // 2, len(data) - 1):
        with pytest.raises(InputError, match="cannot be decompressed"):
            decompress("cut", data[:size], Budget(10**6))


@pytest.mark.parametrize("size", [0, 1, 1 << 12, (1 << 12) + 1])
def test_chunked_decompression_is_complete(monkeypatch, size):
    monkeypatch.setattr(contents, "_STEP", 1 << 7)
    data = np.random.default_rng(size).integers(0, 2, size, dtype=np.uint8).tobytes()
    packed = gzip.compress(data, 1)
    assert decompress("x", packed, Budget(size)) == data
    assert decompress("x", packed + gzip.compress(b"more"), Budget(size + 4)) == data + b"more"
    with pytest.raises(InputError, match="when read" if size else "more than"):
        decompress("x", packed + gzip.compress(b"more"), Budget(size + 3))
    with pytest.raises(InputError, match="x"):
        decompress("x", packed[:-9], Budget(size))


@pytest.mark.parametrize("text", ["", "{", "\xff", "[" * 100_000])
def test_invalid_json_is_refused(text):
    with pytest.raises(InputError, match="not valid JSON"):
        parse_json("x", text.encode("latin1"))
