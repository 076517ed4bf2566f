"""Patterns with ``**`` match those of the standard library, and circular links terminate."""

import glob
import os

import pytest

from riskrank.scores.files.paths import expand_glob

TREE = (
    "a/x.csv",
    "a/sub/x.csv",
    "a/sub/y.csv",
    "a/sub/sub/x.csv",
    "b/x.csv",
    "b/deep/sub/x.csv",
    "b/[odd]/x.csv",
    "b/.hidden/x.csv",
    "x.csv",
)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name in TREE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "pattern",
    [
        "*.csv",
        "**/*.csv",
        "**/x.csv",
        "**/sub/x.csv",
        "**/sub/**/x.csv",
        "a/**/sub/*.csv",
        "*/**/y.csv",
        "b/**",
        "b/**/[[]odd]/x.csv",
        "nothing/**/x.csv",
        "**/sub",
    ],
)
def test_patterns_match_the_standard_library(tree, pattern):
    def plain(text):
        matches = glob.glob(text, recursive=True)
        return sorted({os.path.normpath(name) for name in matches if name})

    for text in (pattern, os.path.join(glob.escape(str(tree)), pattern)):
        result = [name for name in expand_glob(text) if os.path.normpath(name) != os.path.normpath("b")]
        expected = [name for name in plain(text) if name != "b"]
        if pattern.endswith("**"):  # the folder itself is no file below it
            expected = [name for name in expected if name != os.path.normpath(os.path.join(tree, "b"))]
            result = [name for name in result if os.path.normpath(name) != os.path.join(tree, "b")]
        assert sorted({os.path.normpath(name) for name in result}) == expected


def test_circular_links_terminate(tree):
    (tree / "a" / "sub" / "round").symlink_to(tree / "a")
    (tree / "b" / "link").symlink_to(tree / "a" / "sub")
    matches = expand_glob("**/y.csv")
    assert "a/sub/y.csv" in matches
    assert "b/link/y.csv" in matches
    assert len(matches) == len(set(matches))
