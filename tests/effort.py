"""How hard tests try: what dies at random moments, or is made up by Hypothesis, dies or is made up
a few times in `make test`, which must be quick, and as often as it should be in `make faults`."""

import os

IS_FULL = os.environ.get("WEFT_TEST_EFFORT") == "full"


def times(quick: int, full: int) -> int:
    return full if IS_FULL else quick
