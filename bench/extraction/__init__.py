"""What Weft reads from labelled pages, beside libraries that read pages: quality and CPU.

The labelled pages belong to their publishers and are not part of the project. Name a folder that
has them: one folder for each set, and a `score.py` that knows their labels.
"""
