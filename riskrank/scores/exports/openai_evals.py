"""OpenAI Evals: a log of events, of which those of type ``match`` and ``metrics`` contain scores."""

from riskrank.scores.exports import reader

CORRECT = "correct"


def read(file: reader.ExportFile) -> reader.Rows:
    """Yield the scores of samples in an OpenAI Evals log.

    The metric ``correct`` comes from match events; every number in metrics events is another metric. The
    model is the first completion function in the log's ``spec``. Samples that were run but not scored get
    rows with a missing score.
    """
    path = file.path
    # The spec and the final report may be on any line, so all lines are read first.
    events = list(file.lines())
    specs = (event["spec"] for event in events if isinstance(event.get("spec"), dict))
    spec = reader.Record(f"{path}: spec", next(specs, {}))
    if not any("final_report" in event for event in events):
        file.note("no final report: the run was not finished")
    about = {"model": file.model_name(_model_name(spec)), "task": spec.get_text("eval_name")}
    scores: dict[str, object]
    scored: dict[str, set[str]] = {}
    numeric: set[str] = set()
    seen: dict[str, None] = {}
    samplings = (event for event in events if event.get("type") == "sampling")
    sampled = {str(event.get("sample_id")): event.get("data") for event in samplings}
    for event in events:
        if event.get("type") is None or event.get("sample_id") is None:
            continue
        sample = event.get_name("sample_id")
        seen[sample] = None
        prompt, answer = (reader.get_nested(sampled.get(sample), name) for name in ("prompt", "sampled"))
        texts = {"input_text": prompt, "output_text": answer}
        scores = event.get_record("data") if event["type"] in ("match", "metrics") else {}
        if event["type"] == "match":
            scores = {CORRECT: scores.get("correct")}
        for metric, score in scores.items():
            scored.setdefault(metric, set()).add(sample)
            if isinstance(reader.as_score(score), float):
                numeric.add(metric)
            yield {"sample": sample, "metric": metric, "score": score, **about, **texts}
    for metric, samples in scored.items():
        for sample in seen if metric in numeric else ():
            if sample not in samples:
                yield {"sample": sample, "metric": metric, "score": None, **about}


def _model_name(spec: reader.Record) -> str | None:
    """Return the model named in the ``spec`` of a log, or None.

    It is the first completion function or, in older logs, the name of the model.
    """
    functions = spec.get_list("completion_fns")
    if functions:
        return reader.parse_name(spec.location_of("completion_fns"), functions[0])
    # Older logs name the models instead of completion functions.
    names = spec.get_record("model_names").get_list("completions")
    name = names[0] if names else spec.get("model_name")
    return reader.parse_name(spec.location_of("model_names"), name, default="")
