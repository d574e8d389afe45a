"""How often the rounds run, and how many claims they keep ready."""

#: Shortest time between two rounds, so that batches form; and the same while enough is ready.
ROUND_S = 0.01
EASY_ROUND_S = 0.03
#: Longest time between two rounds, and between two checks of what others do.
IDLE_ROUND_S = 1.0
#: This many claims may wait here, or half as many as requests may be under way, if that is more.
MIN_READY = 32
