"""The contract of `FrontierBackend` of `weft.frontier.base` as tests: subclass it, run pytest.

    class TestMine(FrontierContract):
        def make(self, config, clock, rng):
            return MyFrontier(config, clock, rng)

`make` is called again with the same place to reopen a store that outlives its object. There is a
module for each topic; `suite` has what they share, `making` the requests and outcomes.
"""

from weft.testing.frontier_contract.adding import AddingContract
from weft.testing.frontier_contract.budget import BudgetContract
from weft.testing.frontier_contract.claims import ClaimsContract
from weft.testing.frontier_contract.counting import CountingContract
from weft.testing.frontier_contract.duepages import DuePagesContract
from weft.testing.frontier_contract.hosts import BadContract, HostKeysContract
from weft.testing.frontier_contract.making import done, request, requests, tokens, urls
from weft.testing.frontier_contract.order import OrderContract
from weft.testing.frontier_contract.people import PeopleContract
from weft.testing.frontier_contract.surviving import SurvivingContract
from weft.testing.frontier_contract.waitingpages import WaitingPagesContract
from weft.testing.turns_contract import TurnsContract

__all__ = ["FrontierContract", "done", "request", "requests", "tokens", "urls"]


class FrontierContract(
    AddingContract,
    OrderContract,
    ClaimsContract,
    BudgetContract,
    BadContract,
    HostKeysContract,
    CountingContract,
    DuePagesContract,
    PeopleContract,
    SurvivingContract,
    WaitingPagesContract,
    TurnsContract,
):
    """Tests for every frontier."""
