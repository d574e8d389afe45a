"""Scrapy's own test suite, run on Weft: `make scrapy-suite`. docs/scrapy.md explains it.

How a run goes: `source` fetches and unpacks Scrapy's sdist and puts `cases` beside its tests; `run`
starts `session.py` there, a pytest that writes down what becomes of each test. With `hook` on its
path, every crawler of that process and of its subprocesses has the add-on. `verdicts` compares what
became of the tests with `differences.toml`, and `report` makes the table.
"""
