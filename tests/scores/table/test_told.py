"""What tables are read as: ``tests/scores/table/told``, in the signs of ``tests/told.py``.

Below a call stands what it reads: metrics, then a line a model, each sample with its scores, transformed and
oriented; clusters, groups and tasks where there are any; gaps and warnings; or the error, in its lines.
``pytest tests/scores/table/test_told.py -n 0 --write-made`` writes the answers anew.
"""

from riskrank.errors import RiskrankError, spell
from riskrank.options.baseline import GateReading
from riskrank.options.reading import ReadOptions
from riskrank.scores.table.score_table import read_scores
from tests import stored_messages as texts


def kind_of(metric):
    said = [metric.direction if metric.declared else f"{metric.direction}, not declared"]
    said += [] if metric.transform == "none" else [metric.transform]
    said += [] if metric.weight is None else [f"weight {metric.weight:g}"]
    return f"{metric.name} ({', '.join(said)})"


def rows(names, samples, values):
    numbers = (", ".join(f"{value:.6g}" for value in row) for row in values)
    return ", ".join(f"{names[at]} [{row}]" for at, row in zip(samples, numbers, strict=True))


def described(table):
    """Lines that say all that a table holds."""
    yield f"metrics: {', '.join(map(kind_of, table.metrics))}"
    yield f"{'paired' if table.paired else 'unpaired'}{', with draws' if table.has_draws else ''}"
    for at, model in enumerate(table.models):
        yield f"{model}: {rows(table.samples, table.row_samples[at], table.values[at])}"
        if table.best is not None:
            yield f"{model} at best: {rows(table.samples, table.row_samples[at], table.best[at])}"
        if table.cluster_names is not None:
            yield f"{model} in clusters: {', '.join(table.cluster_names[one] for one in table.clusters[at])}"
        if table.groups is not None:
            yield f"{model} in groups: {', '.join(table.group_names[one] for one in table.groups[at])}"
    if table.suite:
        for at, (task, weight) in enumerate(zip(table.suite.names, table.suite.weights, strict=True)):
            own = [one for one, of in zip(table.samples, table.suite.of_sample, strict=True) if of == at]
            by = f" by {kind_of(table.suite.specs[at])}" if table.suite.specs else ""
            yield f"task {task}{by}, weight {weight:.6g}: {', '.join(own)}"
    yield from map(str, (*table.scored, *table.unshared))
    yield from (f"warning: {spell(text, flags=True)}" for text in table.warnings)


def read(*paths, **options):
    try:
        kind = GateReading if options.get("missing") == "bounds" else ReadOptions
        return [*described(read_scores([*paths], kind(**options)))]
    except RiskrankError as error:
        return error.lines(flags=True)


@texts.files_of(__file__, "told")
def test_what_is_read_is_told_as_before(tmp_path, monkeypatch, write_made, told):
    def answer(sign, text, lines):
        return eval(text, {"read": read}) if sign == ">>> " else lines

    monkeypatch.chdir(tmp_path)
    texts.compare(told, write_made, answer)
