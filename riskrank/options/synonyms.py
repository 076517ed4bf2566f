"""Option names of other libraries, and the equivalent options of riskrank."""

from collections.abc import Iterable

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
columns: key keys subject subjects within unit
wide: wide_format format_wide is_wide table_format layout shape
metric: metric_name metric_names score scores scoring measure measures value values outcome criterion
metric: criteria endpoint
models: model systems methods algorithms estimators classifiers select_models include only keep
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
"""Advice for option names that this command lacks."""
ADVICE |= {"test": 'dominance tests claims: dominance(scores, test="relative"). '}
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
