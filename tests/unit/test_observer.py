"""What happens to requests is noted, unless they never were claims."""

from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from weft.engine.claims.fates import Fates
from weft.engine.claims.observer import Observer
from weft.engine.claims.outcome import Fate
from weft.engine.scrapy.inprogress import InProgress
from weft.records import Claim, PackedRequest
from weft.testing import FakeClock

URL = "http://a/"


def response_to(request: Request | None) -> Response:
    return Response(URL, request=request)


def test_why_a_page_was_refused_is_noted_with_its_claim_only() -> None:
    crawler = get_crawler()
    fates = Fates(InProgress(crawler), lambda host: None)
    observer = Observer(crawler, fates, FakeClock())
    claimed = Request(URL)
    fate = Fate(Claim(5, PackedRequest(1, URL, "a"), "me", 0, 0))
    fates.begin(claimed, fate)
    for stranger in (None, Request(URL)):
        observer.note_refused(response_to(stranger), "it is too deep")
        assert not fate.refusal
    observer.note_refused(response_to(claimed), "it is too deep")
    assert fate.refusal == "it is too deep"
