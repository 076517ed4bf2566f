"""Which way metrics are better, by their names."""

from __future__ import annotations

import re

# Words that name a quantity people want less of. Matched word by word, so that "timeline" is not "time".
_AMOUNT_NAMES = """latency cost costs time runtime walltime duration seconds secs milliseconds ms price co2
    emission emissions carbon energy memory ram flops overhead delay"""
_COST_NAMES = """loss losses logloss error errors err toxicity toxic perplexity ppl brier rmse mse mae mape
    smape rmsle wer cer ter fpr fnr eer fid nll crossentropy regret risk distance divergence kl penalty
    hallucination hallucinations violation violations failure failures misses bias ece deviation"""
_AMOUNT_WORDS = frozenset(_AMOUNT_NAMES.split())
_COST_WORDS = _AMOUNT_WORDS | frozenset(_COST_NAMES.split())
_WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
# Units of time and energy behind a name, as in "answer (s)".
_COST_UNIT = re.compile(r"[(\[]\s*([mun\u00b5\u03bc]?s|sec|min|[km]?Wh)\s*[)\]]\s*$")


def looks_like_a_cost(name: str) -> bool:
    """Whether a word of the metric's name, or the unit behind it, says that less of it is better."""
    return _says(name, _COST_WORDS)


def looks_like_an_amount(name: str) -> bool:
    """Whether they say that it is money, time, energy or room: no share of anything."""
    return _says(name, _AMOUNT_WORDS)


def _says(name: str, known: frozenset[str]) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    return bool(_COST_UNIT.search(name)) or any(
        word in known or word.rstrip("0123456789") in known for word in words
    )
