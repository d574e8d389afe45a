"""One request under way, until its answer is complete, has failed or is no longer wanted."""

from scrapy.crawler import Crawler

from weft.engine.http.answerlimits import AnswerLimits
from weft.engine.http.arrival import Arrival
from weft.engine.http.dispatch import Dispatch
from weft.engine.http.parser import AnswerParser


class Exchange:
    def __init__(self, dispatch: Dispatch, limits: AnswerLimits, crawler: Crawler) -> None:
        self.cuts = dispatch.cuts
        self.arrival = Arrival(dispatch.request, limits, crawler)
        #: Some data has come.
        self.has_begun = False
        self._parser = AnswerParser(self.arrival.answer, self.arrival)

    @property
    def is_over(self) -> bool:
        return self.arrival.done.done()

    @property
    def is_reusable(self) -> bool:
        """Whether the connection is good for another request."""
        return self.arrival.is_complete and self._parser.is_reusable

    def feed(self, data: bytes) -> None:
        self.has_begun = True
        self._parser.feed(data)

    def end(self, error: Exception | None) -> None:
        """The connection is gone."""
        if not self.is_over:
            self._parser.end(error)

    def expire(self) -> None:
        self.arrival.fail(TimeoutError())

    def close(self) -> None:
        """No more data will come. The parser and its callbacks refer to each other: without this
        the garbage collector would have to find each request and everything it brought."""
        self._parser.close()
        del self._parser
