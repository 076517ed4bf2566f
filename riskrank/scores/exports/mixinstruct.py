"""MixInstruct (LLM-Blender): candidates of several models for each instruction, with their scores."""

from riskrank.scores.exports.row_reader import ExportFile, Rows, row_reader
from riskrank.scores.files.signatures import holding


@row_reader(
    holding("candidates", "decoding_method", "scores", "model"),
    choices={"decoding": "decoding methods"},
)
def read(file: ExportFile) -> Rows:
    """Scores of every candidate; the sample is the instruction's id.

    Of candidates that differ in the way they were decoded, the rule `filter` says which one counts.
    """
    for record in file.records():
        sample = record.get_name("id")
        if record.get("cmp_results"):
            file.count("instructions with pairwise votes (cmp_results), which are not read")
        prompt_parts = [text for text in (record.get("instruction"), record.get("input")) if text]
        for candidate in record.get_records("candidates"):
            about = {"model": candidate.get_name("model"), "decoding": candidate.get_text("decoding_method")}
            texts = {"input_text": prompt_parts, "output_text": candidate.get("text")}
            scores = candidate.get_record("scores")
            if not scores:
                file.count("candidates without scores")
            for metric, score in scores.items():
                # All of them: similarities to a reference, and log-probabilities.
                file.set_direction(metric, "higher")
                yield {"metric": metric, "score": score, "sample": sample, **about, **texts}
