"""What `finish` tells Redis of the claims of one bucket: how they ended, and their stories."""

from collections.abc import Sequence

from weft.frontier import policy
from weft.frontier.redis import stories
from weft.frontier.redis.groups import marks_text
from weft.frontier.redis.ownclaims import ClaimsOfBucket, ClientClaims
from weft.frontier.redis.scripts import Finish
from weft.records import Ending, Outcome, PageKind

_NEVER_SENT = -1
_UNSENT = 10_000


def pack_finish(
    now_ms: int, at_ms: int, held: ClientClaims, part: ClaimsOfBucket, outcomes: Sequence[Outcome]
) -> tuple[Finish, list[bytes]]:
    """`now_ms` as the scripts are told, `at_ms` for the stories; and these, for nav and data."""
    told: dict[PageKind, list[stories.Story]] = {kind: [] for kind in PageKind}
    groups: list[tuple[str, str, list[int]]] = []
    extras = []
    items = 0
    for name, own in part.groups.items():
        indexes = []
        numbers: list[int] = []
        can_join = False
        for i in own:
            outcome = outcomes[i]
            claim = held[outcome.token]
            indexes.append(claim.number)
            items += outcome.items
            told[claim.request.kind].append(
                stories.story(claim.request, claim.entry, outcome, at_ms)
            )
            code = outcome.ending * 1000 + outcome.status
            if not outcome.is_sent:
                code += _UNSENT
            sent_ago_ms = _NEVER_SENT if outcome.sent_ago_ms is None else outcome.sent_ago_ms
            has_more = _has_more(outcome)
            if can_join and not has_more and numbers[-3:-1] == [code, sent_ago_ms]:
                numbers[-1] += 1
            else:
                numbers += (code, sent_ago_ms, 1)
            can_join = not has_more
            if has_more:
                fingerprint = str(claim.request.fingerprint)
                pauses = (outcome.retry_after_ms, outcome.crawl_delay_ms)
                start = len(numbers) - 2
                is_bad = outcome.is_host_bad
                bad_host = policy.under_its_name(claim.request).host if is_bad else ""
                extras.append(
                    (len(groups) + 1, start, claim.number, fingerprint, *pauses, bad_host)
                )
        groups.append((name, marks_text(indexes), numbers))
    finish = Finish(now_ms, groups, extras, part.stale, items)
    return finish, [stories.pack(told[kind]) for kind in PageKind]


def _has_more(outcome: Outcome) -> bool:
    """Whether there is more to say than how it ended."""
    return bool(
        outcome.ending is Ending.FAILED
        or outcome.is_host_bad
        or outcome.crawl_delay_ms
        or outcome.retry_after_ms
    )
