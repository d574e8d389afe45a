"""HTTP/1.1 on asyncio: what Scrapy's own handler does, for a fifth of its time.

How a request is answered: `handler` hands what is unusual to Scrapy's handler and takes the rest;
`origin` tells where it goes and `wire` which bytes; `pool` has a connection that is idle, or
`connector` makes one, with addresses from `resolver`. On that `connection` the request is written,
and an `exchange` reads the answer out of what comes, if need be after `repair` of its head.
`response` makes Scrapy's response of it. `deadlines` ends what takes too long.
"""
