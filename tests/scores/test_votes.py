"""Reading of tables with pairwise votes."""

import pytest

from riskrank.errors import InputError, UsageError
from riskrank.scores.layouts.preferences import read_votes

HEAD = "sample,model_a,model_b,verdict\n"


@pytest.fixture
def two_files(write):
    first = write("a.csv", HEAD + "1,x,y,a\n2,x,y,\n3,y,x,b\n")
    second = write("b.csv", HEAD + "4,x,z,n/a\n5,z,x,tie\n")
    return first, second


def test_votes_keep_their_file_and_row(two_files):
    read = read_votes(two_files)
    assert [*read.frame["sample"]] == ["1", "3", "5"]
    assert [*read.frame["verdict"]] == ["a", "b", "tie"]
    assert read.without_vote == 2
    assert [read.location(number).rpartition("/")[2] for number in (1, 2, 3)] == [
        "a.csv: row 2",
        "a.csv: row 4",
        "b.csv: row 3",
    ]


def test_vote_columns_are_suggested_by_name(write):
    with pytest.raises(InputError) as caught:
        read_votes([write("t.csv", "question,model_a,model_b,verdict\n1,x,y,a\n")])
    assert caught.value.lines(flags=True)[2] == "hint: did you mean --columns sample=question?"
    with pytest.raises(InputError) as caught:
        read_votes([write("u.csv", "question,model_a,model_b,zzz\n1,x,y,a\n")])
    assert caught.value.lines(flags=True)[2] == "hint: name them: --columns sample=question,verdict=…"


def test_vote_without_a_model_name_is_refused(write):
    with pytest.raises(InputError, match="row 3 has no model_b"):
        read_votes([write("t.csv", HEAD + "1,x,y,a\n2,x,,b\n3,,,\n")])


def test_vote_files_cannot_be_labelled(write):
    with pytest.raises(UsageError, match="cannot belong to one model"):
        read_votes([f"m={write('t.csv', HEAD + '1,x,y,a')}"])
