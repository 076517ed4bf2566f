"""What a sample of Inspect was asked and answered: read of a few samples, as summaries leave it out."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from riskrank.errors import InputError
from riskrank.scores.exports.written_texts import within
from riskrank.scores.files.zip_members import ZipMembers, open_members

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
    with open_members(path, max_bytes) as archive:
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
