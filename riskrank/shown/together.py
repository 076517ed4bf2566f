"""Blanks at which no line ends: a number stays beside its sign, label and unit wherever words wrap."""

import re

# What wraps words takes it for a letter; it is no character, and a text that holds it has it escaped.
JOINT = "\ufdd0"

_LABELS = "α|alpha|δ|delta|ε|eps|ξ|xi|τ|tau|p|n|k|level|order|place|rank|seed"
_UNITS = "%|×|points?|percentage points?|ms|s|[KMG]i?B|USD"
_SIGNS = r"=|<|>|≤|≥|<=|>=|≈|±|\+-|×"
_NUMBER = r"[-−+~<>]*[.\d∞]"
_KEPT = re.compile(
    rf"(?<=\S) (?=(?:{_SIGNS}) {_NUMBER})"  # p = 0.12, up to its sign
    rf"|(?<=[=<>≤≥≈±×]) (?={_NUMBER})|(?<=\+-) (?={_NUMBER})"  # and from there on
    rf"|(?<=[\d∞]) (?=(?:{_UNITS})(?!\w))"
)
_LABELLED = re.compile(rf"(?<![\w-])({_LABELS}) (?={_NUMBER})")


def together(text: str) -> str:
    """The text with a joint for every blank between a number and what belongs to it."""
    return _LABELLED.sub(rf"\1{JOINT}", _KEPT.sub(JOINT, text))


def apart(text: str) -> str:
    """The text with its blanks again, for who reads or copies it."""
    return text.replace(JOINT, " ")
