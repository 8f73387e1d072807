"""The paper's experiments: declared grids of cells, run one by one, shown as tables and figures."""
