"""What a table holds that the fit did not know: counted block by block, then told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from condensity.cli.messages import count, note
from condensity.cli.reading import Block
from condensity.tables.frames import Column, Encoded

IMPUTED = "filled in with medians, and no category"


@dataclass
class Met:
    """What was met in the rows of a table so far."""

    columns: Sequence[Column]
    rows: int = 0
    incomplete: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    unseen: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def hear(self, block: Block, encoded: Encoded) -> None:
        """Add a block."""
        self.rows += len(encoded.X)
        self.incomplete += int(encoded.missing.any(axis=1).sum())
        for j, column in enumerate(self.columns):
            self.missing[column.name] += int(encoded.missing[:, j].sum())
            self.unseen[column.name] += int(encoded.unseen[:, j].sum())
            if encoded.unseen[:, j].any():
                where = int(encoded.unseen[:, j].argmax())
                self.examples.setdefault(column.name, str(block[column.name][where]))

    def tell(self, gaps: str) -> None:
        """Say it, and what became of rows with gaps."""
        for name, n in (+self.unseen).items():
            note(
                f"column {name!r} has {count(n, 'value')} that the fit did not know, such as "
                f"{self.examples[name]!r}: taken as no category"
            )
        for name, n in (+self.missing).items():
            note(f"column {name!r} has {count(n, 'missing value')}")
        if self.incomplete:
            note(f"{self.incomplete} of {count(self.rows, 'row')} with missing inputs: {gaps}")
