"""Real servers for tests, benchmarks and examples, each in a temporary directory on a free port.

They are not part of the product: the server of `weft crawl --workers` is in `weft.redis.server`.
"""
