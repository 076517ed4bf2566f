"""What can be read with a harness's name: the one table of readers.

It imports nothing: the help of the command line shows it before anything else is loaded.
"""

from __future__ import annotations

# Format → its module in this folder, and what --help says of it. A new reader is its file and its row here.
EXPORTS: dict[str, tuple[str, str]] = {
    "lm-eval": ("lm_eval", "lm-evaluation-harness: the samples of --log_samples, with their results files."),
    "inspect": ("inspect_logs", "Inspect: .eval and .json logs."),
    "promptfoo": ("promptfoo", "promptfoo: results as JSON or JSONL."),
    "helm": ("helm", "HELM: folders of runs."),
    "every-eval-ever": ("every_eval_ever", "Every Eval Ever: rows of instances."),
    "alpaca-eval": ("alpaca_eval", "AlpacaEval: annotations of a judge."),
    "mt-bench": ("mt_bench", "MT-Bench: judgments of FastChat, of single answers or of pairs."),
    "livebench": ("livebench", "LiveBench: ground-truth judgments."),
    "openai-evals": ("openai_evals", "OpenAI Evals: logs of events."),
    "lighteval": ("lighteval", "lighteval: details as Parquet, with their results files."),
    "deepeval": ("deepeval", "DeepEval: test runs."),
    "mixinstruct": ("mixinstruct", "MixInstruct: candidates with their scores."),
    "mlflow": ("mlflow", "MLflow: tables of evaluation results."),
    "ragas": ("ragas", "Ragas: results as CSV."),
    "sklearn": (
        "sklearn",
        "scikit-learn: cv_results_, cross_validate, out-of-fold predictions beside y_true.",
    ),
}
