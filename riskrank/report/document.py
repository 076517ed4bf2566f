"""Results of the commands that have no study yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """As :class:`riskrank.studies.document.Provenance`, with entries of ``meta``."""

    command: str
    seed: int | None
    resamples: int | None
    settings: Mapping[str, Any]
    inputs: Sequence[Mapping[str, Any]]
    models: Sequence[str]
    metrics: Sequence[Mapping[str, Any]] | Sequence[str]
    samples: int
    warnings: Sequence[str]
    schema: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Result:
    """Rows as mappings, and a view."""

    provenance: Provenance
    fields: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    view: Sequence[Any]
    verdict: str = ""

    @property
    def schema(self) -> str:
        """Name of the schema."""
        return self.provenance.schema or self.provenance.command

    def columns(self) -> dict[str, list[Any]]:
        """All rows, field by field."""
        return {name: [row[name] for row in self.rows] for name in self.fields}

    def written(self) -> dict[str, list[Any]]:
        """All rows as JSON and CSV write them."""
        return self.columns()

    def meta(self) -> Mapping[str, Any]:
        """Entries of ``meta`` beyond the provenance."""
        return self.provenance.extra
