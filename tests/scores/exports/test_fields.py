import pytest

from riskrank.errors import InputError
from riskrank.scores.exports.fields import an_object, objects


def test_lists_of_objects():
    assert objects("x", None) == []
    assert objects("x", [{}, {"a": 1}]) == [{}, {"a": 1}]


@pytest.mark.parametrize("wrong", [[{"a": 1}, 2], {}, "text", 3])
def test_what_is_no_list_of_objects_is_refused(wrong):
    with pytest.raises(InputError, match="x is not a list of objects"):
        objects("x", wrong)


@pytest.mark.parametrize("wrong", [[], "text", 3])
def test_what_is_no_object_is_refused(wrong):
    assert an_object("x", None) == {}
    with pytest.raises(InputError, match="x is not an object"):
        an_object("x", wrong)
