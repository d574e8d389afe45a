"""One file per contestant, each a program of its own: `python FILE PLAN`.

The plan is a JSON file: `urls` to begin with, `output` for JSON lines with url and title, `redis`,
and the limits `concurrency`, `per_host` and `delay_s`. They share no code, and none with Weft: each
is what a user of that tool would write, and peers run in another virtual environment.

Only URLs that begin with `http://127.` are followed. The names of the files are not those of the
packages that they import: the directory of a program comes first on its path.
"""
