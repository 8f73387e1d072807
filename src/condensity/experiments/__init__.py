"""The paper's experiments: grids of cells, their records, and tables and figures of the results."""
