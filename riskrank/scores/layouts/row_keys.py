"""What tells the rows of a model apart: samples, runs of them, parts of a whole, copies."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from riskrank.engine.sampling.design import FEWEST_SAMPLES
from riskrank.engine.types import Names
from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.layouts.column_profiles import FILE, Columns
from riskrank.scores.layouts.grouping_columns import (
    FEWEST_IN_PART,
    MOST_PARTS,
    as_drawn,
    belongs,
    divides,
    drawn_whole,
    is_numbered,
    is_part,
    mixed_otherwise,
    numbers_runs_of,
    repeats,
    says_of,
)
from riskrank.scores.names.directions import names_a_metric
from riskrank.scores.names.vocabulary import (
    vocabulary,
    looks_like_an_identifier,
    may_name_samples,
    names_tasks,
    names_clusters,
    has_word,
    column_for_role,
    words,
)

# Columns whose contents are looked at.
_MOST_CANDIDATES = 20
# Samples are shared if most of them are.
_MOST = 0.5
# What differs between rows of one sample and is no sample, with what it is called.
_BESIDE = ("run", "setting", "judge", "wording")
# Fewer runs on each of several data sets are no samples of what a model does.
_FEWEST_RUNS = 5


@dataclass(frozen=True, kw_only=True)
class Keys:
    """What rows are of.

    Attributes
    ----------
    sample, draw, cluster, task : str
        Columns, several of them joined by ``+``; empty where there is none.
    repeats : str
        What to do about several scores of a sample, as `ReadOptions.repeats` has it; empty for nothing.
    unpaired : bool
        Whether models have samples of their own.
    said : tuple of str
        What was understood, for one sentence.
    averaged : tuple of str
        Columns whose rows count together.
    few : bool
        Whether clusters are too few to be drawn anew.
    """

    sample: str = ""
    draw: str = ""
    cluster: str = ""
    task: str = ""
    repeats: str = ""
    unpaired: bool = False
    said: tuple[str, ...] = ()
    averaged: tuple[str, ...] = ()
    few: bool = False

    @property
    def copied(self) -> bool:
        """Whether rows are copies of each other."""
        return self.repeats == "mean" and not self.averaged


def keys_of(columns: Columns, model: Names, metric: Names, free: Names) -> Keys:
    """What tells rows of a model and metric apart.

    Parameters
    ----------
    columns : Columns
    model, metric : sequence of str
        The columns that name them, one or none each.
    free : sequence of str
        Columns without a role.
    """
    by = [*model, *([FILE] if columns.by_file and FILE in columns.frame.columns else [])]
    fixed = [*by, *metric]
    candidates = [name for name in free if _may_tell(columns, name)][:_MOST_CANDIDATES]
    alone = [name for name in candidates if columns.tell_apart(*fixed, name) and not _is_beside(name)]
    if alone:
        sample = max(alone, key=lambda name: _strength(columns, name, by))
        if by and not columns.shared(sample, by):
            rest = keys_of(columns, model, metric, [name for name in free if name not in alone])
            if _crossed(columns, fixed, rest):
                return rest
        if by and (has_word(sample, "of rows") or not columns.shared(sample, by)):
            sample = _shared_run(columns, fixed, by, candidates) or sample
        return _with_wholes(columns, sample, by, free)
    # Numbers that begin anew with every run of a model name the same samples.
    runs = partial(numbers_runs_of, columns, fixed)
    each = {name: [*by, *filter(partial(runs, name), candidates)] for name in candidates}
    within = [name for name in candidates if _is_place(columns, name, each[name])]
    of_sample = [name for name in candidates if not _is_beside(name) and name not in within]
    strong = [name for name in of_sample if may_name_samples(name) or names_clusters(name)]
    strong = strong or [name for name in of_sample if by and columns.shared(name, by) >= _MOST]
    if not strong:
        drawn = [name for name in candidates if not has_word(name, "no draws")]
        if run := _shared_run(columns, fixed, by, drawn):
            return Keys(sample=run, said=(f"each {run} is a sample",))
        return _copies(columns, fixed, "", free, by)
    base = max(strong, key=lambda name: (columns.shared(name, by) >= _MOST, columns.groups(*fixed, name)))
    beside = beside_of(columns, [*fixed, base], [name for name in candidates if name != base])
    if not columns.tell_apart(*fixed, base, *beside):
        return _copies(columns, fixed, base, free, by)
    if not any(map(_is_beside, beside)) and _scored_once(columns, [*fixed, base], beside):
        told = f"duplicates: the same scores for every {' and '.join(beside)}, counted once"
        return Keys(sample=base, repeats="mean", said=(told,))
    return _of_parts(columns, base, beside, by, fixed)


def _scored_once(columns: Columns, cell: Names, beside: Names) -> bool:
    """Whether all numbers of a cell are the same in each of its rows, as where a table was joined to it."""
    numbers = [name for name in columns.of_kind("number") if name not in (*cell, *beside)]
    return bool(numbers) and all(columns.constant_within(name, cell) for name in numbers)


def _crossed(columns: Columns, fixed: Names, keys: Keys) -> bool:
    """Whether each sample stands once with every model: what numbers the rows then names none."""
    of_sample = [part for one in (keys.sample, keys.draw, keys.task) for part in one.split("+") if part]
    samples, models = columns.groups(*of_sample), columns.groups(*fixed)
    return samples > 1 and columns.height == columns.groups(*fixed, *of_sample) == samples * models


def _shared_run(columns: Columns, fixed: Names, by: Names, candidates: Names) -> str:
    """Seeds that all models were run with, once each: nothing else is the same for all of them."""
    runs = (name for name in candidates if has_word(name, "run"))
    return next((run for run in runs if columns.tell_apart(*fixed, run) and columns.shared(run, by) == 1), "")


def keyed(keys: Keys, named: Mapping[str, str], options: ReadOptions) -> dict[str, object]:
    """Options that say what rows are of; what was asked for stays."""
    found: dict[str, object] = {}
    if keys.task and options.task is None and "task=" not in (options.columns or ""):
        found["task"] = keys.task
    if keys.cluster and options.cluster is None and not options.noise:
        found |= as_drawn([keys.cluster], options, few=keys.few)
    if keys.repeats and options.repeats == "error":
        found["repeats"] = "mean" if options.missing == "keep" else keys.repeats
    if keys.unpaired and not options.paired_only:
        found["unpaired"] = True
    return found


def _may_tell(columns: Columns, name: str) -> bool:
    """Whether a column may say what a row is of: text, dates, or numbers that count something."""
    found, kind = words(name), columns.kind(name)
    if kind == "empty" or columns.frame[name].dtype.is_nested() or found & vocabulary("status"):
        return False
    if columns.count(name) < 2 or columns.gaps(name):
        return False
    if kind != "number":
        return True
    if found & vocabulary("setting") or not columns.whole(name):
        return bool(found & vocabulary("setting")) and columns.count(name) <= MOST_PARTS
    if (
        may_name_samples(name)
        or _is_beside(name)
        or found & vocabulary("within")
        or columns.counts_within(name)
    ):
        return True
    numbered = is_numbered(columns, name) and not names_a_metric(name)
    return numbered or looks_like_an_identifier(name, columns.frame[name].unique())


def _is_place(columns: Columns, name: str, by: Names) -> bool:
    """Whether a column says where in a whole something is, rather than which sample of a model it is."""
    return has_word(name, "within") or columns.counts_within(name) > columns.groups(*by)


def _is_beside(name: str) -> bool:
    """Whether a name says that a column tells rows of one sample apart, not samples."""
    return has_word(name, *_BESIDE) and not ("id" in words(name) and may_name_samples(name))


def _strength(columns: Columns, name: str, by: Names) -> tuple[bool, bool, bool, int]:
    """How well a column names samples: shared by models, called so, in the order of the file."""
    exact = column_for_role("sample", [name]) is not None and not has_word(name, "of rows")
    shared, text = columns.shared(name, by) >= _MOST, columns.kind(name) == "text"
    return shared, exact, text, -columns.names.index(name)


def _with_wholes(columns: Columns, sample: str, by: Names, free: Names) -> Keys:
    """A sample, with the whole it belongs to or the part it is of, where a column says so."""
    unpaired = bool(by) and columns.groups(*by) > 1 and columns.shared(sample, by) == 0
    said = ("models have samples of their own",) if unpaired else ()
    own = [*by, sample] if unpaired else [sample]
    others = [name for name in free if name != sample and columns.kind(name) in ("text", "number")]
    for name in others if unpaired else ():
        # Models with samples in one of these each differ in nothing that could be told from them.
        own_set = has_word(name, "whole", "occasions") and says_of(columns, name, by)
        if own_set and columns.count(name) > 1:
            raise InputError(
                f"{columns.label}: models were scored on different samples, each on {name} of its own",
                found=f"{columns.count(name)} of {name}, and none of two models",
                hint="score all models on the same samples: what differs may be models or samples",
            )
    wholes = [name for name in others if belongs(columns, name, own) and not is_part(columns, name)]
    for name in others if "task" not in columns.names else ():
        worded = has_word(name, "wording") and (
            by or columns.count(name) > 2
        )  # of two it is what was compared
        wholes += [name] if worded and says_of(columns, name, own) and repeats(columns, name, own) else []
    for name in wholes[:1]:
        few, whole = columns.count(name) < FEWEST_SAMPLES, (*said, drawn_whole(name))
        return Keys(sample=sample, cluster=name, unpaired=unpaired, said=whole, few=few)
    for name in others:
        divided = is_part(columns, name) and divides(columns, name, own, by)
        mixed = unpaired and says_of(columns, name, own) and mixed_otherwise(columns, name, by)
        if divided or mixed:
            told = "mixed differently by {}, each of which counts alike" if mixed else "each {} counts alike"
            return Keys(sample=sample, task=name, unpaired=unpaired, said=(*said, told.format(name)))
    return Keys(sample=sample, unpaired=unpaired, said=said)


def beside_of(columns: Columns, fixed: Names, candidates: Names) -> list[str]:
    """Columns that together tell rows apart, those that are called so first."""
    ordered = sorted(candidates, key=lambda name: (not _is_beside(name), not has_word(name, "within")))
    chosen: list[str] = []
    for name in ordered:
        if columns.tell_apart(*fixed, *chosen):
            break
        if columns.groups(*fixed, *chosen, name) > columns.groups(*fixed, *chosen):
            chosen.append(name)
    return chosen


def _of_parts(columns: Columns, base: str, beside: Names, by: Names, fixed: Names) -> Keys:
    """What several columns mean that together tell rows apart."""
    kinds = [next((kind for kind in _BESIDE if has_word(name, kind)), None) for name in beside]
    if len(beside) == 1 and not names_clusters(base) and numbers_runs_of(columns, fixed, base, beside[0]):
        kinds = ["run"]
    joined = "+".join([base, *beside])
    parts = Keys(sample=joined, cluster=base, said=(drawn_whole(base),))
    if None in kinds or (names_clusters(base) and _is_place(columns, beside[0], by)):
        alone = len(beside) == 1
        whole = names_clusters(base) or (alone and _is_place(columns, beside[0], by))
        numbered = may_name_samples(base) or (alone and columns.whole(beside[0]))
        return parts if whole or (numbered and columns.count(base) >= FEWEST_IN_PART) else Keys(sample=joined)
    if len(beside) == 1 and kinds[0] == "run":
        few = columns.count(beside[0]) < _FEWEST_RUNS and columns.count(base) >= FEWEST_SAMPLES
        if has_word(base, "scales") and columns.count(base) <= MOST_PARTS and not (names_tasks(base) and few):
            return Keys(sample=beside[0], task=base, said=(f"each {base} counts alike",))
        return Keys(sample=base, draw=beside[0], repeats="draws", said=(f"{beside[0]}: runs of a {base}",))
    crossed = columns.groups(*fixed) * columns.groups(base) * columns.groups(*beside)
    if columns.shared(base, by) >= 1 and columns.height == crossed:
        told = (f"averaged over {' and '.join(beside)}",)
        return Keys(sample=base, repeats="mean", said=told, averaged=tuple(beside))
    return parts


def _copies(columns: Columns, fixed: Names, base: str, free: Names, by: Names) -> Keys:
    """Rows that nothing tells apart: copies, where all columns say the same, or several of a person."""
    named = [name for name in free if may_name_samples(name) and _may_tell(columns, name)]
    base = base or (column_for_role("sample", named) or "")
    if not base:
        return Keys()
    distinct = columns.groups(*columns.names)
    if columns.groups(*fixed, base) == distinct < columns.height:
        times = columns.height / distinct
        again = f"{times:g} times" if times == int(times) else f"up to {int(times) + 1} times"
        told = f"duplicates: the same rows {again}, counted once"
        return Keys(sample=base, repeats="mean", said=(told,))
    if names_clusters(base) and by:
        told = f"each {base} counts once, by the mean of its rows"
        return Keys(sample=base, repeats="mean", unpaired=columns.shared(base, by) == 0, said=(told,))
    return Keys(sample=base)
