"""JSON Schemas derived from row types: complete, strict, and available for each document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, Literal

import jsonschema
import pytest

from riskrank.errors import UsageError
from riskrank.options.commands import DOC_TYPES
from riskrank.render.schema import document_classes, json_schema, type_schema
from riskrank.studies.copa.ranking import UNCERTAINTY_FIELDS


@dataclass
class Inner:
    """A nested row type."""

    x: int


@pytest.mark.parametrize(
    ("hint", "good", "bad"),
    [
        (str, ["", "a"], [1, None, []]),
        (int, [1, -3], [1.5, "1", None, True]),
        (float, [1, 1.5], ["1", None, True]),
        (bool, [True], [1, "true", None]),
        (float | None, [1.5, None], ["x", False]),
        (Literal["a", 2], ["a", 2], ["b", 3]),
        (list[str], [[], ["a"]], [[1], "a"]),
        (tuple[str, ...], [["a", "b"]], [[1]]),
        (Sequence[list[float]], [[[1.0, 2]]], [[1.0]]),
        (Mapping[str, int | None], [{}, {"a": None}], [{"a": "1"}, []]),
        (dict[str, float] | None, [None, {"a": 1}], [{"a": None}, 1]),
        (Annotated[float, {"const": "inf"}], ["inf"], [1.0]),
        (Annotated[float, "a note"], [1.0], ["inf"]),
        (Inner, [{"x": 1}, {"x": 1, "new": 2}], [{}, {"x": "1"}]),
        (Any, [1, None, {}], []),
    ],
)
def test_types_match_their_json(hint, good, bad):
    check = jsonschema.Draft202012Validator(type_schema(hint)).is_valid
    assert [check(value) for value in good] == [True] * len(good)
    assert [check(value) for value in bad] == [False] * len(bad)


@pytest.mark.parametrize("name", DOC_TYPES)
def test_every_document_has_a_valid_schema(name):
    schema = json_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert [kind.schema for kind in document_classes(name)] == [name] * len(document_classes(name))
    assert {*document_classes(name)[0].entries} <= schema["properties"]["meta"]["properties"].keys()
    rows = schema["properties"]["results"]["items"]
    for row in rows.get("anyOf", [rows]):
        assert row["required"]
        sometimes = {
            "group",
            "task",
            "tier",
            "e_value",
            "e_value_against",
            "chosen_p",
        }  # where there are some
        sometimes |= {"estimate_low", "estimate_high", "relative_margin", "resamples_needed", "lost_samples"}
        sometimes |= {*UNCERTAINTY_FIELDS, "population_share", "input", "output_new", "output_old"}
        assert set(row["properties"]) - set(row["required"]) <= sometimes
        assert all(row["properties"].values()), f"a type of {name} says nothing"


def test_no_document_lacks_a_schema():
    for paper in DOC_TYPES.values():
        module, _, maker = paper.view.partition(":")
        assert callable(getattr(import_module(f"riskrank.studies.{module}"), maker or "build_sections"))


def test_a_name_that_is_none():
    with pytest.raises(UsageError, match="mmr") as caught:
        json_schema("mmr")
    assert "mrm" in caught.value.hint
