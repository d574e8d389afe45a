"""List pages of boards, as they wait until they are due: what the engine packs of each.

A page is found on an entry of its board. Five visits have left what boards keep of a page: a
digest, an ETag or a date where the server sends one, what the visits brought.
"""

import random
from collections.abc import Iterator

import msgspec
from scrapy import Request, Spider
from scrapy.http import Response

from bench.workload import WORDS
from weft.boards.refresh import PageVisit, RefreshBounds, RefreshState, after_visit
from weft.engine.boards.context import PageContext
from weft.engine.requests.pack import Packer
from weft.records import PackedRequest, PageKind
from weft.urls import fingerprint

NOW_S = 1_790_000_000
VISITS = 5
#: What sites send with their lists.
ETAG_SHARE, DATE_SHARE, UNCHANGED_SHARE = 0.4, 0.3, 0.5
BOUNDS = RefreshBounds(every_s=3_600, at_least_s=600, at_most_s=86_400)
#: Histories of visits that are told apart, besides their digests and ETags.
_STATES = 500


class BoardLikeSpider(Spider):
    name = "boards"

    def parse(self, response: Response, step: object) -> None:
        raise NotImplementedError("nothing is fetched here")

    def fail(self, failure: object) -> None:
        raise NotImplementedError("nothing is fetched here")


class BoardPages:
    """Every host is that of one board."""

    def __init__(self, hosts: int, pages: int, seed: int = 1) -> None:
        self._rng = random.Random(seed)
        self._hosts = hosts
        self._pages = pages
        self._spider = BoardLikeSpider()
        self._packer = Packer(self._spider)
        self._states = [self._state() for _ in range(_STATES)]

    def __iter__(self) -> Iterator[PackedRequest]:
        for number in range(self._hosts):
            host = f"{WORDS[-1 - number * 7]}-{number}.example"
            found_on = self._rng.getrandbits(63)
            paths: dict[str, None] = {}
            while len(paths) < self._pages // self._hosts:
                paths[self._path()] = None
            for path in paths:
                yield self._pack(f"https://{host}{path}", host, f"board-{number}", found_on)

    def _path(self) -> str:
        section, word, other = self._rng.choices(WORDS, k=3)
        page = self._rng.randrange(2, 40)
        forms = (
            f"/{section}/",
            f"/{section}/{word}/",
            f"/tag/{word}-{other}",
            f"/{section}/{page}/",
        )
        return self._rng.choice(forms)

    def _pack(self, url: str, host: str, board: str, found_on: int) -> PackedRequest:
        request = Request(
            url,
            callback=self._spider.parse,
            errback=self._spider.fail,
            cb_kwargs=PageContext(board=board, depth=1, state=self._own_state()).packed(),
            meta={"weft_kind": "nav", "depth": 1},
        )
        return PackedRequest(
            fingerprint(url),
            url,
            host,
            PageKind.NAV,
            payload=self._packer.pack(request),
            found_on=found_on,
        )

    def _own_state(self) -> RefreshState:
        state = self._rng.choice(self._states)
        etag = f'W/"{self._rng.getrandbits(80):020x}"' if state.etag else ""
        return msgspec.structs.replace(state, digest=self._rng.randbytes(8), etag=etag)

    def _state(self) -> RefreshState:
        state: RefreshState | None = None
        at_s = NOW_S - VISITS * BOUNDS.every_s
        has_etag = self._rng.random() < ETAG_SHARE
        has_date = self._rng.random() < DATE_SHARE
        for _ in range(VISITS):
            is_unchanged = self._rng.random() < UNCHANGED_SHARE
            visit = PageVisit(
                at_s,
                new_articles=0 if is_unchanged else self._rng.choice([0, 0, 1, 1, 2, 5]),
                is_unchanged=is_unchanged,
                etag="it has one" if has_etag else "",
                modified_s=at_s - self._rng.randrange(BOUNDS.every_s) if has_date else 0,
            )
            state, due_in_ms, _ = after_visit(state, visit, BOUNDS)
            at_s += due_in_ms // 1000
        assert state is not None
        return state
