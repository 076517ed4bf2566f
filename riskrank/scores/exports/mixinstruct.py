"""MixInstruct (LLM-Blender): scored answers of several models to each instruction."""

from riskrank.scores.exports.row_reader import ExportFile, Rows, row_reader
from riskrank.scores.files.contents import key_matcher


@row_reader(
    key_matcher("candidates", "decoding_method", "scores", "model"),
    choices={"decoding": "decoding methods"},
)
def read(file: ExportFile) -> Rows:
    """Yield the scores of every candidate answer; a sample is the id of an instruction.

    If candidates differ in their decoding method, the option `filter` selects one.
    """
    for record in file.records():
        sample = record.get_name("id")
        if record.get("cmp_results"):
            file.count("pairwise votes (cmp_results) of instructions, not read")
        prompt_parts = [text for text in (record.get("instruction"), record.get("input")) if text]
        for candidate in record.get_records("candidates"):
            about = {"model": candidate.get_name("model"), "decoding": candidate.get_text("decoding_method")}
            texts = {"input_text": prompt_parts, "output_text": candidate.get("text")}
            scores = candidate.get_record("scores")
            if not scores:
                file.count("candidates without scores")
            for metric, score in scores.items():
                # All metrics are similarities to a reference or log-probabilities.
                file.set_direction(metric, "higher")
                yield {"metric": metric, "score": score, "sample": sample, **about, **texts}
