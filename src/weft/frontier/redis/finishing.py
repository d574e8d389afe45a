"""What `finish` tells Redis of the claims of one bucket: how they ended, and their stories."""

from collections.abc import Sequence

from weft.frontier import policy
from weft.frontier.redis import entry as entries
from weft.frontier.redis import stories
from weft.frontier.redis.groups import marks_text
from weft.frontier.redis.ownclaims import ClaimsOfBucket, ClientClaims, OwnClaim
from weft.frontier.redis.scripts import Finish
from weft.frontier.redis.waiting import FAR_MS
from weft.frontier.redis.waitingpages import pack_page
from weft.records import Order, Outcome

_NEVER_SENT = -1
_UNSENT = 10_000


def pack_finish(
    now_ms: int,
    at_ms: int,
    held: ClientClaims,
    part: ClaimsOfBucket,
    outcomes: Sequence[Outcome],
    order: Order,
) -> tuple[Finish, list[bytes]]:
    """`now_ms` as the scripts are told, `at_ms` for the stories; and the blobs."""
    told: dict[str, list[stories.Story]] = {log: [] for log in stories.LOGS}
    waits: list[tuple[int, int, bytes]] = []
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
            due_in_ms = policy.due_at_ms(outcome, 0)
            is_due_again = due_in_ms is not None
            story = stories.story(claim.request, claim.entry, outcome, at_ms, waits=is_due_again)
            told[stories.log_of(claim.request.kind, waits=is_due_again)].append(story)
            if due_in_ms is not None:
                page = _pack_wait(claim, outcome, order)
                waits.append((due_in_ms, claim.request.fingerprint, page))
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
                is_given_up = policy.is_given_up(outcome)
                fingerprint = str(claim.request.fingerprint) if is_given_up else ""
                pauses = (outcome.retry_after_ms, outcome.crawl_delay_ms)
                start = len(numbers) - 2
                is_bad = outcome.is_host_bad
                bad_host = policy.under_its_name(claim.request).host if is_bad else ""
                extras.append(
                    (len(groups) + 1, start, claim.number, fingerprint, *pauses, bad_host)
                )
        groups.append((name, marks_text(indexes), numbers))
    waits.sort()
    waits_ms = [due_in_ms for due_in_ms, _, _ in waits]
    finish = Finish(now_ms, groups, extras, part.stale, items, waits_ms, FAR_MS)
    return finish, [*map(stories.pack, told.values()), *(page for _, _, page in waits)]


def _pack_wait(claim: OwnClaim, outcome: Outcome, order: Order) -> bytes:
    request = policy.next_visit(claim.request, outcome)
    entry = entries.entry_of(request, claim.entry.at_ms, claim.entry.nonce)
    return pack_page(request, entry, order)


def _has_more(outcome: Outcome) -> bool:
    """Whether there is more to say than how it ended."""
    return bool(
        policy.is_given_up(outcome)
        or outcome.is_host_bad
        or outcome.crawl_delay_ms
        or outcome.retry_after_ms
    )
