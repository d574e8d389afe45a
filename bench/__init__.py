"""Measurements beside others; their results stand in docs/performance.md."""
