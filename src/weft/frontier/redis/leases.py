"""The leases of this client, as far as it knows: the buckets that it may claim from."""

from weft.frontier.redis.layout import Bucket


class ClientLeases:
    """Until it asks for the first, a client serves all buckets."""

    def __init__(self) -> None:
        self.tokens: dict[Bucket, int] = {}
        #: Buckets that are to be given up.
        self.leaving: set[Bucket] = set()
        #: Only those are served that there is a lease of.
        self.are_needed = False
        #: A claim was refused since we last asked for our leases.
        self.is_refused = False

    def has(self, bucket: Bucket) -> bool:
        """Whether there may be claims of ours."""
        return not self.are_needed or bucket in self.tokens

    def serves(self, bucket: Bucket) -> bool:
        """Whether to claim from it."""
        return self.has(bucket) and bucket not in self.leaving

    def token(self, bucket: Bucket) -> int:
        """What a claim has to show; 0: nothing."""
        return self.tokens.get(bucket, 0)

    def note_refused(self, bucket: Bucket) -> None:
        """A claim was refused: another has the bucket, or our time is over. `hold` will see; until
        then nothing more is claimed there."""
        self.is_refused = True
        self.leaving.add(bucket)

    def note(self, bucket: Bucket, token: int) -> bool:
        """What the store says about a bucket (0: it is not ours); whether we have lost a lease of
        it."""
        before = self.tokens.get(bucket)
        if token:
            self.tokens[bucket] = token
        else:
            self.drop(bucket)
        return before is not None and before != token

    def drop(self, bucket: Bucket) -> None:
        self.tokens.pop(bucket, None)
        self.leaving.discard(bucket)
