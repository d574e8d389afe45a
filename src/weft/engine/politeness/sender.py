"""Decides whether a request may be sent now: the last check before the network.

It combines what the parts know: the supply, whether a claim is still ours; the gate, when its host
may be asked again; the host's wishes, whether it wants to be left alone; the turns, whether it is
ours; and whether the crawl is being closed, or was cut off.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

from scrapy import Request
from scrapy.exceptions import IgnoreRequest

from weft.engine.claims.outcome import Fate
from weft.engine.claims.renewals import Renewals
from weft.engine.claims.returns import Returns
from weft.engine.claims.supply import Supply
from weft.engine.politeness.closing import Closing
from weft.engine.politeness.gate import LOOK_S, Gate, HostBudget, MayNeedTurn
from weft.engine.politeness.hostkeys import HostKeys
from weft.engine.politeness.limits import CrawlLimits
from weft.engine.politeness.stops import CUT_S, Stops
from weft.engine.politeness.turntaker import TurnTaker
from weft.engine.politeness.wishes import GIVE_BACK_S, HostWishes
from weft.engine.requests.slots import is_bare, slot_of
from weft.engine.scrapy.inprogress import InProgress
from weft.engine.scrapy.throttle import Throttle
from weft.errors import StoreError
from weft.records import Claim
from weft.urls import host_key

#: Time between two checks whether to keep waiting for a store that does not answer.
STORE_LOOK_S = 1.0


class Sender:
    def __init__(
        self,
        limits: CrawlLimits,
        supply: Supply,
        renewals: Renewals,
        returns: Returns,
        gate: Gate,
        turns: TurnTaker,
        wishes: HostWishes,
        keys: HostKeys,
        throttle: Throttle,
        stops: Stops,
        closing: Closing,
        in_progress: InProgress,
    ) -> None:
        self._limits = limits
        self._supply = supply
        self._renewals = renewals
        self._returns = returns
        self._gate = gate
        self._turns = turns
        self._wishes = wishes
        self._keys = keys
        self._throttle = throttle
        self._stops = stops
        self._closing = closing
        self._in_progress = in_progress

    # Before sending

    def let_pass(
        self, request: Request, fate: Fate | None
    ) -> Coroutine[Any, Any, Request | None] | None:
        """Returns None if the request may be sent at once. Otherwise the result must be awaited: it
        gives None, or a request that replaces this one, which must not be sent."""
        if fate is None:
            return self._pass_side(request)
        if fate.is_kept:
            return self._pass_kept(request, fate)
        host = self._keys.key(fate.claim.request.host)
        budget = self._budget(request, host, fate)
        if (
            self._may_send(fate.claim)
            and not self._wishes.pause_left_s(host)
            and self._turns.is_free(host)
            and self._gate.try_pass(request, host, budget)
        ):
            fate.is_sent = True
            return None
        return self._pass_claim(request, fate, host)

    def _budget(self, request: Request, host: str, fate: Fate | None) -> HostBudget:
        limits = self._limits.of(host)
        delay_s = max(limits.delay_ms / 1000, self._throttle.delay_s(request))
        crawl_delay_s = self._wishes.crawl_delay_s(host)
        if fate:
            fate.crawl_delay_ms = round(crawl_delay_s * 1000)
            delay_s = max(delay_s, fate.claim.delay_ms / 1000)
        return HostBudget(max(delay_s, crawl_delay_s), limits.concurrency)

    async def _pass_claim(self, request: Request, fate: Fate, host: str) -> Request | None:
        turn = self._turns.claim_turn(request, host)
        if await self._pass_gate(request, fate, host, turn):
            fate.is_sent = True
            return None
        return abandon(request, fate)

    async def _pass_side(self, request: Request) -> None:
        if not await self._pass_without_claim(request, None):
            raise IgnoreRequest("the crawl is being closed")

    async def _pass_kept(self, request: Request, fate: Fate) -> Request | None:
        if await self._pass_without_claim(request, fate):
            fate.is_sent = True
            return None
        return abandon(request, fate)

    async def _pass_without_claim(self, request: Request, fate: Fate | None) -> bool:
        """`fate`: what is known of a kept request; the claim that it is part of must be ours."""
        if request.url in request.meta.get("redirect_urls", ()):
            raise IgnoreRequest("redirected in a circle")  # for claims, the frontier detects it
        host = await self._find_key(request)
        with self._turns.side_turn(request, host) as turn:
            while not await self._pass_gate(request, fate, host, turn):
                if not await self._may_send_soon(_claim_of(fate)):
                    return False
                # Not in line at the gate: claims wait there, which must be given back.
                await asyncio.sleep(min(LOOK_S, self._wishes.pause_left_s(host)))
        return True

    async def _find_key(self, request: Request) -> str:
        slot = slot_of(request)
        if slot and is_bare(slot):
            return self._keys.key(slot)
        name = slot or host_key(request.url)
        try:
            return await self._keys.find(name)
        except StoreError:  # this ends the crawl; the request waits like all others
            return self._keys.key(name)

    async def _pass_gate(
        self,
        request: Request,
        fate: Fate | None,
        host: str,
        turn: MayNeedTurn,
    ) -> bool:
        claim = _claim_of(fate)

        def budget_now() -> HostBudget:
            return self._budget(request, host, fate)

        async def may_send() -> bool:
            return not self._wishes.pause_left_s(host) and await self._may_send_soon(claim)

        return await self._gate.wait(request, host, budget_now, turn, may_send)

    def _may_send(self, claim: Claim | None) -> bool:
        """Whether a request may go out at this moment; `claim` is None for a side request."""
        is_over = self._stops.is_cutting or self._closing.is_over
        return self._supply.may_send(claim) and not is_over

    async def _may_send_soon(self, claim: Claim | None) -> bool:
        """Wait while that is uncertain. When the crawl is being closed, claims are no longer sent
        but given back.

        Claims that were not renewed in time may be another worker's by now, and with them the right
        to send anything to their hosts.
        """
        if claim is not None and self._in_progress.is_closing:
            return False
        while self._stops.is_cutting or not self._renewals.is_sure:
            if self._renewals.is_over or self._in_progress.is_closing:
                return False
            if self._stops.is_cutting:
                await asyncio.sleep(CUT_S)
            else:
                await self._renewals.wait(STORE_LOOK_S)
        return self._may_send(claim)

    def hold_s(self, request: Request) -> float:
        """How long to hold back a request that has a connection; 0: it is sent now."""
        left_s = self._gate.hold_s(request)
        if not left_s:
            self._turns.note_sent(request)
        return left_s

    # After sending

    def leave(self, request: Request) -> None:
        """The request is no longer under way, whatever became of it."""
        self._gate.leave(request)
        self._turns.leave(request)

    @property
    def has_cut(self) -> bool:
        """Whether a request that fails now may be one that was cut off."""
        return self._stops.has_cut or self._closing.is_over

    def give_back(self, fate: Fate) -> None:
        """Give back the claim of a request that was let go of without being worked on. Another
        worker may take it, or we may later, when its host may be asked again."""
        delay_ms = max(fate.claim.delay_ms, fate.crawl_delay_ms) if fate.is_sent else 0
        host = self._keys.key(fate.claim.request.host)
        pause_s = min(GIVE_BACK_S, self._wishes.pause_left_s(host))
        self._returns.put_back(fate.claim, max(delay_ms / 1000, pause_s))


def _claim_of(fate: Fate | None) -> Claim | None:
    return fate.real_claim if fate else None


def abandon(request: Request, fate: Fate) -> Request:
    """Let go of a request without an error. The spider would see an error and might make an item of
    it, although the page is another worker's now. So return a replacement that the scheduler does
    not take."""
    fate.is_abandoned = True
    return request.copy()
