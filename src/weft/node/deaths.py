"""What to do when the workers of one slot die one after the other: replace them, or give up."""

#: This many deaths in a row without a single page are no accident.
MAX_DEATHS = 5
#: Pause after the first death; it doubles with each further one in a row.
BACK_OFF_S = 0.25
LONGEST_PAUSE_S = 30.0
#: A worker that lived this long did not die of what killed the one before it.
STEADY_S = 60.0


class Deaths:
    def __init__(self) -> None:
        #: How long to wait before the next worker is started.
        self.pause_s = 0.0
        #: Deaths in a row of workers that had not fetched a page.
        self.fruitless = 0

    def note(self, *, lived_s: float, pages: int) -> None:
        is_first = lived_s > STEADY_S or not self.pause_s
        self.pause_s = BACK_OFF_S if is_first else min(LONGEST_PAUSE_S, 2 * self.pause_s)
        self.fruitless = 0 if pages else self.fruitless + 1

    @property
    def is_hopeless(self) -> bool:
        return self.fruitless >= MAX_DEATHS
