"""The bundled news site: three papers of an invented bay, each on a site of its own.

What is printed comes from `texts` (by `seeds` and `reports`) and is put together in `stories`: that
is the ground truth. `papers` says how each section makes its pages; `articles`, `lists` and
`appsection` write them, each section in another way. `pages` knows them all by address, `traps` and
`jumps` those without end. `site` is the front door: a request in, an answer out, without a network.
`weft.testing.newsroom` serves it.
"""

from weft.demo.newsroom.issue import Served
from weft.demo.newsroom.lists import Listing
from weft.demo.newsroom.site import Newsroom
from weft.demo.newsroom.stories import PaperStory

__all__ = ["Listing", "Newsroom", "PaperStory", "Served"]
