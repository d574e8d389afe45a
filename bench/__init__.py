"""Comparisons with other tools; the results are in docs/performance.md."""
