"""AlpacaEval: ``annotations.json`` with an annotator's preferences between a model and a reference."""

from riskrank.errors import InputError
from riskrank.scores.exports.fields import Record
from riskrank.scores.exports.row_reader import ExportFile, Rows, row_reader
from riskrank.scores.files.contents import key_matcher

METRIC = "win_rate"


@row_reader(
    key_matcher("generator_1", "generator_2", "instruction"),
    directions={METRIC: "higher"},
    choices={"annotator": "annotators", "reference": "references"},
)
def read(file: ExportFile) -> Rows:
    """Yield each preference as the probability that the model, ``generator_2``, beats the reference.

    A sample is an instruction. The option `filter` selects the annotator and the reference.
    """
    for record in file.records():
        yield {
            "model": file.model_name(record.get_name("generator_2")),
            "sample": record.get_name("instruction"),
            "metric": METRIC,
            "score": _win_rate(record),
            "annotator": record.get_text("annotator"),
            "reference": record.get_text("generator_1"),
            "dataset": record.get_text("dataset"),
            "input_text": record["instruction"],
            "output_text": record.get("output_2"),
        }


def _win_rate(record: Record) -> object:
    """Convert a preference to a win rate of the model.

    1 means that the reference wins, 2 that the model wins. A tie is 0 in old files and 1.5 in new ones.
    """
    preference = record.get("preference")
    if isinstance(preference, bool) or not isinstance(preference, int | float):
        return preference
    if preference == 0:
        return 0.5
    if preference < 1 or preference > 2:
        raise InputError(
            f"{record.location} has a preference outside 1 to 2",
            found=f"{preference!r}",
            hint="use 1 if generator_1 wins and 2 if generator_2 wins; check the annotator output",
        )
    return preference - 1
