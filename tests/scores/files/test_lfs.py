"""Pointers of Git LFS are named as such, whatever the suffix of the file."""

import pytest

import riskrank as rr
from riskrank.errors import InputError

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet", "scores.jsonl"])
def test_a_pointer_is_no_table(tmp_path, name):
    (tmp_path / name).write_text(POINTER)
    with pytest.raises(InputError, match="a Git LFS pointer, not the file itself") as refused:
        rr.rank(str(tmp_path / name))
    assert "git lfs pull" in refused.value.hint
