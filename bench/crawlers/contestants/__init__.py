"""One file per contestant, each its own program: `python FILE PLAN`.

The plan is a JSON file: `urls` to start with, `output` for JSON lines with url and title, `redis`,
and the limits `concurrency`, `per_host` and `delay_s`. They share no code, and none with Weft: each
is what a user of that tool would write, and peers run in another virtual environment.

Only URLs that start with `http://127.` are followed. The file names differ from the packages that
they import, because the directory of a program comes first on its path.
"""
