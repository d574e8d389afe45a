"""Stories of requests that have ended: small pieces become large ones, which take less room."""

from weft.frontier.redis import scripts, stories
from weft.frontier.redis.blocks import compress
from weft.frontier.redis.layout import Bucket
from weft.redis.client import Client


async def merge_stories(
    client: Client, bucket: Bucket, log: str, length: int, waiting: int = 0
) -> None:
    """`length`: the number of pieces that a bucket has of this log. `waiting`: the number of its
    pages that wait; so many visits of them are kept on average, whenever they were."""
    if length < stories.CHUNKS:
        return
    [chunks] = await client.run([("LRANGE", bucket.prefix + log, 0, stories.CHUNKS - 1)])
    if not chunks:
        return
    merged = [story for chunk in chunks for story in stories.unpack(chunk)]
    kept = 0
    if stories.is_of_visits(log):
        kept = 1 + stories.VISITS * waiting // len(merged)
    call = scripts.Compact(log, stories.merged_log(log), len(chunks), kept)
    blobs = [chunks[0], chunks[-1], compress(merged)]
    await client.run([scripts.COMPACT.call(bucket.prefix, bucket.config, call, blobs)])
