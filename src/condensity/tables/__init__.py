"""Models of tables: data frames with numbers, flags and categories."""

from condensity.tables.columns import Column
from condensity.tables.errors import TableError, TableWarning
from condensity.tables.evaluate import Evaluation, compare_with_baselines, evaluate_model
from condensity.tables.model import TableModel
from condensity.tables.table_fit import fit_table

__all__ = [
    "Column",
    "Evaluation",
    "TableError",
    "TableModel",
    "TableWarning",
    "compare_with_baselines",
    "evaluate_model",
    "fit_table",
]
