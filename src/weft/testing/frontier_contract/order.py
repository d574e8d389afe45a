"""The order in which requests are served."""

import pytest

from weft.records import Order, PackedRequest, PageKind
from weft.testing.frontier_contract.making import MINUTE_MS, request, requests, tokens, urls
from weft.testing.frontier_contract.suite import FrontierSuite


class OrderContract(FrontierSuite):
    """Tests for the orders of a queue."""

    @pytest.mark.parametrize("batch", [1, 2, 3, 100])
    async def test_bfs_serves_the_oldest_first(self, batch: int) -> None:
        added = requests(7)
        assert await self.served(Order.BFS, added, batch) == [r.url for r in added]

    @pytest.mark.parametrize("batch", [1, 2, 3, 100])
    async def test_dfs_serves_the_newest_first(self, batch: int) -> None:
        added = requests(7)
        assert await self.served(Order.DFS, added, batch) == [r.url for r in reversed(added)]

    @pytest.mark.parametrize("batch", [1, 2, 3, 100])
    async def test_priority_serves_the_highest_first_and_equals_in_turn(self, batch: int) -> None:
        priorities = [0, 5, -3, 5, 0, 2**40, -(2**40)]
        added = [request(f"http://a/{i}", priority=p) for i, p in enumerate(priorities)]
        expected = [f"http://a/{i}" for i in (5, 1, 3, 0, 4, 2, 6)]
        assert await self.served(Order.PRIORITY, added, batch) == expected

    async def test_random_serves_all_and_in_no_order(self) -> None:
        added = requests(200)
        served = await self.served(Order.RANDOM, added, 3)
        assert sorted(served) == sorted(r.url for r in added)
        assert served != [r.url for r in added]
        assert served != [r.url for r in reversed(added)]

    @pytest.mark.parametrize("order", [Order.BFS, Order.DFS])
    async def test_priority_means_nothing_to_other_orders(self, order: Order) -> None:
        plain = await self.served(order, requests(20), 4)
        ranked = [request(f"http://a/{i}", priority=i % 3) for i in range(20)]
        assert await self.served(order, ranked, 4) == plain

    @pytest.mark.parametrize("order", list(Order))
    async def test_data_is_served_before_nav(self, order: Order) -> None:
        kinds = [PageKind.NAV, PageKind.DATA] * 5
        added = [request(f"http://a/{i}", kind=k, priority=-k) for i, k in enumerate(kinds)]
        served = await self.served(order, added, 3)
        assert {int(url[-1]) % 2 for url in served[:5]} == {1}

    @pytest.mark.parametrize("order", list(Order))
    @pytest.mark.parametrize("ending", ["release", "reclaim"])
    async def test_what_is_given_back_is_served_next(self, order: Order, ending: str) -> None:
        async with self.opened(order=order) as frontier:
            await frontier.add(requests(9))
            first = (await frontier.claim("me", 4)).claims
            if ending == "release":
                assert await frontier.release(tokens(first)) == [True] * 4
            else:
                self.clock.advance(2 * MINUTE_MS)
                assert await frontier.reclaim() == 4
            again = (await frontier.claim("me", 4)).claims
            if order is Order.RANDOM:
                rest = (await frontier.claim("me", 9)).claims
                assert sorted(urls(again + rest)) == [f"http://a/{i}" for i in range(9)]
            else:
                assert urls(again) == urls(first)

    async def served(self, order: Order, added: list[PackedRequest], batch: int) -> list[str]:
        """The URLs in the order in which they are claimed in batches after all were added."""
        result: list[str] = []

        async with self.opened(order=order) as frontier:
            await frontier.clear()
            await frontier.add(added)
            while claims := (await frontier.claim("me", batch)).claims:
                result.extend(urls(claims))
        return result
