"""The letters Inspect grades with, told from letters that are answers, and the texts of samples."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from riskrank.errors import InputError, counted, listing, option
from riskrank.scores.exports.interface import within
from riskrank.scores.files.limits import Room
from riskrank.scores.files.zip_members import ZipMembers, open_members

# Inspect's own values of these letters: correct, partially, incorrect, no answer.
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "NOANSWER": 0.0}


@dataclass(kw_only=True)
class _Texts:
    """The texts of one metric in all logs, and where each that is no grade was met first."""

    counts: Counter[str] = field(default_factory=Counter)
    strays: dict[str, str] = field(default_factory=dict)
    files: dict[Path, None] = field(default_factory=dict)

    @property
    def graded(self) -> bool:
        """Whether the texts are grades, perhaps with a few strays among them."""
        if not self.strays:
            return True
        grades = sum(self.counts[letter] for letter in GRADES)
        return not _are_choices(self.counts) and 2 * grades >= self.counts.total()


class Grades:
    """Which metrics are graded with letters.

    One metric is one thing in all logs: where some models answer A, B and D, a model that always answers C
    is not always correct.
    """

    def __init__(self) -> None:
        self._texts: dict[str, _Texts] = defaultdict(_Texts)

    def meet(self, path: Path, sample: str, scores: Mapping[str, object]) -> None:
        """Take note of the texts among a sample's scores."""
        for metric, value in scores.items():
            if isinstance(value, str):
                texts = self._texts[metric]
                texts.counts[value] += 1
                texts.files[path] = None
                if value not in GRADES:
                    texts.strays.setdefault(value, f"{path}: sample {sample}")

    def refuse_strays(self) -> None:
        """Refuse a text among grades that is none.

        Raises
        ------
        InputError
        """
        for metric, texts in self._texts.items():
            if texts.graded and texts.strays:
                value, place = next(iter(texts.strays.items()))
                number = sum(texts.counts[stray] for stray in texts.strays)
                met = sorted(set(texts.counts) & GRADES.keys())
                raise InputError(
                    f"{place}: '{metric}' is '{value[:80]}', which is no grade",
                    found=f"{counted(number, 'such value')} among "
                    f"{texts.counts.total() - number:,} grades {', '.join(met)}",
                    hint="grades are C, P, I and N: have the samples scored again; "
                    f"{option('skip_bad', True)} leaves out the values that are none",
                )

    def notes(self) -> Iterable[str]:
        """Words for metrics whose texts are no grades, with their files."""
        for metric, texts in self._texts.items():
            if not texts.graded:
                shown = listing((repr(text[:40]) for text in sorted(texts.counts)), 4)
                yield f"{metric}: texts such as {shown} are answers, no grades, in {listing(texts.files, 3)}"

    def is_graded(self, metric: str) -> bool:
        """Whether the texts of a metric are grades."""
        return metric in self._texts and self._texts[metric].graded


def _are_choices(texts: Iterable[str]) -> bool:
    """Whether texts are the letters of choices: from A on, and at least every other one of them met."""
    letters = set(texts)
    if not letters <= set(ascii_uppercase):
        return False
    return 2 * len(letters) >= ascii_uppercase.index(max(letters)) + 1


Key = tuple[str, str]
"""Id and epoch of a sample."""


def texts_in(
    path: Path, keys: Collection[Key], max_bytes: int, longest: int
) -> dict[Key, tuple[object, object]]:
    """By id and epoch what a sample of an archive was asked, and what it answered.

    Parameters
    ----------
    path : Path
    keys : collection of (str, str)
    max_bytes : int
        Most bytes of a member.
    longest : int
        Bytes of a sample beyond which nobody looks for its texts.
    """
    if not keys:
        return {}
    with open_members(path, Room(max_bytes)) as archive:
        return {key: texts_of(_sample(archive, key, longest)) for key in keys}


def texts_of(sample: Mapping[str, Any]) -> tuple[object, object]:
    """What a sample was asked, and what it answered."""
    output = sample.get("output")
    choices = within(output, "choices")
    message = within(choices[0], "message") if isinstance(choices, list) and choices else None
    return sample.get("input"), within(output, "completion") or message


def _sample(archive: ZipMembers, key: Key, longest: int) -> Mapping[str, Any]:
    """A sample whose scores are known already: one damaged, very long or not there has no texts."""
    name = f"samples/{key[0]}_epoch_{key[1]}"
    member = next((one for one in (f"{name}.json", f"{name}/sample.json") if one in archive), None)
    try:
        sample = None if member is None else archive.json(member, most=longest)
    except InputError:
        return {}
    return sample if isinstance(sample, dict) else {}
