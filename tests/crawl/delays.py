"""The time between requests, as a site sees it."""

from collections.abc import Sequence
from itertools import pairwise

from weft.testing import Hit


def gaps_s(hits: Sequence[Hit]) -> list[float]:
    """The site may have been held up when it noted the earlier of two requests."""
    return [later.at_s - earlier.at_s + earlier.held_up_s for earlier, later in pairwise(hits)]
