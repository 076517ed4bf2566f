"""Stored readings of tables: ``tests/scores/table/expected_readings``, as in ``tests/stored_messages.py``.

The lines below a call list the metrics, then per model each sample with its transformed and oriented scores;
clusters, groups and tasks if there are any; gaps and warnings; or the lines of the error.
``pytest tests/scores/table/test_stored_tables.py -n 0 --write-made`` rewrites the answers.
"""

from riskrank.errors import RiskrankError, spell
from riskrank.options.baseline import GateReading
from riskrank.options.reading import ReadOptions
from riskrank.scores.table.score_table import read_scores
from tests import stored_messages as texts


def metric_text(metric):
    parts = [metric.direction if metric.declared else f"{metric.direction}, not declared"]
    parts += [] if metric.transform == "none" else [metric.transform]
    parts += [] if metric.weight is None else [f"weight {metric.weight:g}"]
    return f"{metric.name} ({', '.join(parts)})"


def rows(names, samples, values):
    numbers = (", ".join(f"{value:.6g}" for value in row) for row in values)
    return ", ".join(f"{names[at]} [{row}]" for at, row in zip(samples, numbers, strict=True))


def describe(table):
    """Yield lines that describe all contents of a table."""
    yield f"metrics: {', '.join(map(metric_text, table.metrics))}"
    yield f"{'paired' if table.paired else 'unpaired'}{', with draws' if table.has_repeats else ''}"
    for index, model in enumerate(table.models):
        yield f"{model}: {rows(table.samples, table.row_samples[index], table.values[index])}"
        if table.best is not None:
            yield f"{model} at best: {rows(table.samples, table.row_samples[index], table.best[index])}"
        if table.cluster_names is not None:
            clusters = ", ".join(table.cluster_names[code] for code in table.clusters[index])
            yield f"{model} in clusters: {clusters}"
        if table.groups is not None:
            yield f"{model} in groups: {', '.join(table.group_names[code] for code in table.groups[index])}"
    if table.suite:
        for index, (task, weight) in enumerate(zip(table.suite.names, table.suite.weights, strict=True)):
            names = [
                sample
                for sample, task_number in zip(table.samples, table.suite.task_codes, strict=True)
                if task_number == index
            ]
            by = f" by {metric_text(table.suite.specs[index])}" if table.suite.specs else ""
            yield f"task {task}{by}, weight {weight:.6g}: {', '.join(names)}"
    yield from map(str, (*table.scored, *table.unmatched))
    yield from (f"warning: {spell(text, flags=True)}" for text in table.warnings)


def read(*paths, **options):
    try:
        kind = GateReading if options.get("missing") == "bounds" else ReadOptions
        return [*describe(read_scores([*paths], kind(**options)))]
    except RiskrankError as error:
        return error.lines(flags=True)


@texts.files_of(__file__, "expected_readings")
def test_tables_match_the_stored_ones(tmp_path, monkeypatch, update_stored, stored):
    def answer(sign, text, lines):
        return eval(text, {"read": read}) if sign == ">>> " else lines

    monkeypatch.chdir(tmp_path)
    texts.compare(stored, update_stored, answer)
