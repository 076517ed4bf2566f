"""Options in both interfaces: Python signatures, command-line arguments, and names from other libraries."""

import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from riskrank.errors import SET_KEYS, spell
from riskrank.options.option import Option, non_defaults, options_of


def signature(
    options: Iterable[Option], *, first: inspect.Parameter, returns: str = "Result"
) -> inspect.Signature:
    """Return the signature of a function with a scores parameter and options as keywords."""
    keywords = [
        inspect.Parameter(
            opt.name, inspect.Parameter.KEYWORD_ONLY, default=opt.default, annotation=type_of(opt)
        )
        for opt in options
    ]
    return inspect.Signature([first, *keywords], return_annotation=returns)


def type_of(opt: Option) -> Any:
    """Return the Python type annotation of an option."""
    member: Any = (get_args(opt.kind) or (opt.kind,))[0]
    if opt.by_name:
        numbers: Any = Mapping[str, float] | Sequence[str] | str
        return numbers if get_origin(opt.kind) is dict else numbers | float
    if opt.several:
        return member | Sequence[member] | bool if opt.spec.accepts_true else member | Sequence[member]
    if opt.spec.choices and not opt.spec.accepts_model:
        literal: Any = Literal[opt.spec.choices]
        return literal | None if opt.default is None else literal
    return opt.kind


def option_docs(options: Iterable[Option]) -> list[str]:
    """Return numpydoc lines that describe the options."""
    lines: list[str] = []
    for opt in options:
        more = f" By default {spell(opt.spec.unset, flags=False)}." if opt.spec.unset else ""
        more += f" Alias: ``{opt.spec.python_alias}``." if opt.spec.python_alias else ""
        lines += [f"{opt.name} : {_numpydoc_type(opt)}", f"    {spell(opt.spec.words, flags=False)}{more}"]
    return lines


def _numpydoc_type(opt: Option) -> str:
    """Return the type of an option in numpydoc notation."""
    optional = ", optional" if opt.default is None else ""
    if opt.by_name:
        return "mapping of str to float" if opt.name == "weight" else "float, or mapping of str to float"
    if opt.several:
        member = get_args(opt.kind)[0].__name__
        several = f"{member} or sequence of {member}"
        if opt.spec.commas:
            several += ", or a text with commas between values"
        return f"{several}, or True" if opt.spec.accepts_true else several
    if opt.spec.choices:
        choices = f"{{{', '.join(repr(choice) for choice in opt.spec.choices)}}}"
        return f"{choices}{', or name of a model' * opt.spec.accepts_model}{optional}"
    kinds = [opt.kind] if get_origin(opt.kind) is Mapping else [*get_args(opt.kind)] or [opt.kind]
    return " or ".join(_describe_type(kind) for kind in kinds if kind is not NoneType) + optional


def _describe_type(kind: Any) -> str:
    """Return a description of a type."""
    if get_origin(kind) is Mapping:
        key, value = map(_describe_type, get_args(kind))
        return f"mapping of {key} to {value}"
    return "value" if kind is Any else str(kind.__name__)


def flag_arguments(group: Any, exclude: Collection[str] = ()) -> list[str]:
    """Return the command-line arguments that reproduce the non-default options of a settings object."""
    values = non_defaults(group, exclude=[*exclude])
    declared = {opt.name: opt for opt in options_of(type(group))}
    words = []
    for name, value in values.items():
        instead = declared.get(declared[name].spec.cli_equivalent)
        # A value that only Python accepts must be written into a file first.
        words += (
            [instead.flag, instead.spec.metavar] if instead else [*_option_arguments(declared[name], value)]
        )
    return words


def _option_arguments(opt: Option, value: Any) -> Iterator[str]:
    """Yield the command-line arguments that set an option to a value."""
    if opt.name in SET_KEYS:
        yield from ("--set", f"{opt.name.replace('_', '-')}={value}")
    elif opt.switch:
        yield opt.flag
    elif opt.by_name:
        for name, number in dict(value).items():
            yield from (opt.flag, f"{name}={number:g}" if name else f"{number:g}")
    elif opt.spec.commas:
        yield from (opt.flag, join_commas(value))
    else:
        for text in value if opt.several else (value,):
            yield from (opt.flag, str(text))


def join_commas(names: Iterable[Any]) -> str:
    """Join names with commas.

    Names with a comma or a quote are quoted.
    """
    texts = map(str, names)
    return ",".join('"' + s.replace('"', '""') + '"' if "," in s or '"' in s else s for s in texts)


# SciPy, scikit-learn, statsmodels, pandas, seaborn, autorank, evalstats and CI tools use these words. Several
# options stand for one word if commands differ; the first one that a command has is proposed.
_WORDS = """\
resamples simulations: n_boot nboot n_bootstrap bootstrap bootstraps n_resamples nresamples num_resamples
resamples simulations: b reps n_reps permutations n_permutations iterations n_iter n_iterations draws
resamples simulations: n_samples samples_n
seed: random_state rng random_seed rs generator
alpha: confidence_level confidence conf_level conf ci level_of_confidence significance significance_level
alpha: sig error_rate fwer coverage
jobs: n_jobs workers processes n_workers num_workers cores threads parallel njobs
lower: lower_is_better smaller_is_better less_is_better minimize minimise minimized losses loss ascending
lower: lower_better costs cost_metrics negate
higher: higher_is_better larger_is_better bigger_is_better greater_is_better maximize maximise maximized
higher: higher_better
directions higher: direction sense objective_direction
columns: model_col model_column models_col sample_col sample_column id_col item_col score_col score_column
columns: value_col metric_col metric_column by y x column cols names col_names rename mapping roles index
columns: id key keys subject subjects within unit
wide: wide_format format_wide is_wide table_format layout shape
metric: metric_name metric_names score scores scoring measure measures value values outcome criterion
metric: criteria endpoint
folds: cv n_splits n_folds k_folds kfold fold folds_col
models: labels model systems methods algorithms estimators classifiers select_models include only keep
baseline not_worse old: reference ref control base champion incumbent against versus vs compare_to
new not_worse: candidate challenger treatment experiment head current
not_worse: non_inferiority noninferiority equivalence claim claims hypothesis noninferior
better: superiority superior improve improvement alternative greater
margin: threshold tolerance delta_max max_loss max_drop max_regression min_effect effect_size rope
margin: equivalence_margin slack allowed_drop fail_under epsilon
correction: p_adjust p_adjust_method adjust adjustment multipletests multiple_testing multitest posthoc
correction: post_hoc multiple_comparisons fdr pvals_correction
cluster: groups clusters cluster_col cluster_column group_id block blocks user_col document_col grouping
cluster: random_effect
group_by: groupby subgroup subgroups slice slices segment segments stratify strata breakdown facet
task: task_col tasks_col dataset dataset_col datasets benchmark benchmarks suite subset
missing: nan_policy dropna na_action na fillna handle_missing missing_values skipna ignore_nan nan
unpaired: paired is_paired independent repeated_measures dependent
repeats: n_repeats runs trials replicate replicates seeds run_col repetitions replications aggregate_runs
weight weights task_weight: sample_weight sample_weights metric_weights importance
metrics_file metrics: bounds metric_config metrics_config config_metrics lower_bound upper_bound
top: n k limit_models max_models head n_best top_k topk show
test: tests stat_test approach parametric
level: quantile tail cvar_level var_level tail_level worst
on: statistic stat metric_on estimand aggregation agg func
pair pairs: comparison comparisons contrast contrasts between
sizes: n n_obs nobs sample_size sample_sizes n_range
plot: figure savefig fig chart
output: out output_file outfile save_to write_to to report_file destination file path
where: query condition mask rows filters
quiet: verbose verbosity silent progress show_progress progress_bar
"""
ADVICE = dict.fromkeys(["verbose", "silent", "progress"], "leave it out: nothing is printed. ")
ADVICE |= dict.fromkeys(["sep", "delimiter", "encoding"], "leave it out: it is detected. ")
"""Advice for option names that this command lacks."""
ADVICE |= {"test": 'dominance tests claims: dominance(scores, test="relative"). '}
_POWER = "power plans the number of samples: power(scores, pair=...). "
ADVICE |= dict.fromkeys(["power", "effect_size", "beta"], _POWER)
_CLAIM = 'gate tests one-sided claims: gate(scores, better="NEW:OLD"). '
ADVICE |= dict.fromkeys(["alternative", "superiority", "better"], _CLAIM)
_GATE = 'gate compares with one model: gate(scores, new="NEW", old="OLD"). '
ADVICE |= dict.fromkeys(["baseline", "reference", "control"], _GATE)
MEANINGS = {"alpha": " (1 − confidence)", "unpaired": " (the opposite of paired)"}
"""Explanations of proposed options that a value is easily confused with."""


def equivalent_option(name: str, options: Iterable[str]) -> str | None:
    """Return the option that means the same as a word of another tool, or None.

    Parameters
    ----------
    name : str
        Word, with or without dashes.
    options : iterable of str
        Names of the available options.
    """
    names, word = [*options], name.strip("-").casefold().replace("-", "_").rstrip("_")
    rows = (line.partition(": ") for line in _WORDS.splitlines())
    equivalents = (option for meant, _, words in rows if word in words.split() for option in meant.split())
    return next((option for option in equivalents if option in names), None)
