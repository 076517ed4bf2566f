"""Table of all export formats.

It imports no other module of riskrank, so that the command-line help can list the formats quickly.
"""

# Format → module in this folder (``:name`` if the reader is not called ``read``) and its line in --help.
# To add a format, add its module and a row here.
EXPORTS: dict[str, tuple[str, str]] = {
    "lm-eval": ("lm_eval", "lm-evaluation-harness: samples from --log_samples, or results only."),
    "inspect": ("inspect_logs", "Inspect: .eval and .json logs."),
    "promptfoo": ("promptfoo", "promptfoo: results as JSON or JSONL."),
    "helm": ("helm", "HELM: run folders."),
    "every-eval-ever": ("every_eval_ever", "Every Eval Ever: instance rows."),
    "alpaca-eval": ("alpaca_eval", "AlpacaEval: judge annotations."),
    "mt-bench": ("judgments:mt_bench", "MT-Bench: FastChat judgments of single answers or pairs."),
    "livebench": ("judgments:livebench", "LiveBench: ground-truth judgments."),
    "openai-evals": ("openai_evals", "OpenAI Evals: event logs."),
    "lighteval": ("lighteval", "lighteval: details as Parquet, or results only."),
    "deepeval": ("deepeval", "DeepEval: test runs."),
    "mixinstruct": ("mixinstruct", "MixInstruct: candidates with scores."),
    "mlflow": ("question_tables:mlflow", "MLflow: evaluation result tables."),
    "ragas": ("question_tables:ragas", "Ragas: results as CSV."),
    "junit": ("junit", "JUnit: XML of a test runner, one sample per test."),
    "swe-bench": ("swe_bench", "SWE-bench: run or instance reports."),
    "terminal-bench": ("terminal_bench", "Terminal-Bench: Harbor trial results, and results of version 1."),
    "mteb": ("mteb", "MTEB: result folders, one file per task."),
    "braintrust": ("trackers:braintrust", "Braintrust: experiment events as JSON."),
    "langsmith": ("trackers:langsmith", "LangSmith: the result table of an experiment."),
    "phoenix": ("trackers:phoenix", "Phoenix: experiment runs as CSV or JSON."),
    "langfuse": ("trackers:langfuse", "Langfuse: exported scores as CSV or JSON."),
    "sklearn": (
        "sklearn",
        "scikit-learn: cv_results_, cross_validate, or out-of-fold predictions with y_true.",
    ),
}
