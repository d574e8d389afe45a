"""Stories of requests that have ended: small pieces become large ones, which take less room."""

from weft.frontier.redis import scripts, stories
from weft.frontier.redis.layout import Bucket
from weft.redis.client import Client


async def merge_stories(client: Client, bucket: Bucket, family: str, length: int) -> None:
    """`length`: the number of pieces that a bucket has of this family."""
    if length < stories.CHUNKS:
        return
    source = f"stories:{family}"
    [chunks] = await client.run([("LRANGE", bucket.prefix + source, 0, stories.CHUNKS - 1)])
    if not chunks:
        return
    call = scripts.Compact(source, f"history:{family}", len(chunks))
    blobs = [chunks[0], chunks[-1], stories.merge(chunks)]
    await client.run([scripts.COMPACT.call(bucket.prefix, bucket.config, call, blobs)])
