"""Unknown categories, missing values and values outside the training rows, block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from condensity.cli.messages import note, readable
from condensity.cli.reading import RowBlock
from condensity.tables.columns import DATE, Column
from condensity.tables.dates import date_text
from condensity.tables.errors import count_noun
from condensity.tables.frames import EncodedRows

IMPUTED = "numbers are replaced by medians, categories by zeros"


@dataclass
class NewValues:
    """Counts of these values in the rows read until now."""

    columns: Sequence[Column]
    rows: int = 0
    incomplete: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    unseen: Counter[str] = field(default_factory=Counter)
    outside: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, block: RowBlock, encoded: EncodedRows) -> None:
        """Count the values of a block."""
        self.rows += len(encoded.X)
        self.incomplete += int(encoded.missing.any(axis=1).sum())
        for j, column in enumerate(self.columns):
            self.missing[column.name] += int(encoded.missing[:, j].sum())
            self.unseen[column.name] += int(encoded.unseen[:, j].sum())
            self.outside[column.name] += int(encoded.outside[:, j].sum())
            if encoded.unseen[:, j].any():
                row = int(encoded.unseen[:, j].argmax())
                self.examples.setdefault(column.name, str(block[column.name][row]))

    def print_notes(self, treatment: str) -> None:
        """Print the counts, and the treatment of rows with missing values."""
        for name, n in (+self.unseen).items():
            note(
                f"column {name!r} has {count_noun(n, 'value')} that the training rows do not have, "
                f"such as {self.examples[name]!r}: encoded as zeros"
            )
        for column in self.columns:
            if n := self.outside[column.name]:
                values = count_noun(n, "value")
                note(
                    f"column {column.name!r} has {values} outside {_range(column)}, the range of "
                    "the training rows: predictions there are extrapolations"
                )
        for name, n in (+self.missing).items():
            note(f"column {name!r} has {count_noun(n, 'missing value')}")
        if self.incomplete:
            rows = count_noun(self.rows, "row")
            note(f"{self.incomplete} of {rows} have missing inputs: {treatment}")


def _range(column: Column) -> str:
    """The range of a column in the training rows, in its own notation."""
    low, high = column.low[-1], column.high[-1]
    if column.kind == DATE:
        return f"{date_text(column.first + low)} to {date_text(column.first + high)}"
    return f"{readable(low)} to {readable(high)}"
