"""HTTP/1.1 on asyncio: what Scrapy's own handler does, in a fifth of the time.

How a request is answered: `handler` passes unusual requests to Scrapy's handler and takes the rest.
`origin` determines where a request goes, and `wire` its bytes. `pool` has an idle connection, or
`connector` makes one, with addresses from `resolver`. The request is written to that `connection`,
and an `exchange` reads the answer from it, if necessary after `repair` of its head. `response`
turns it into Scrapy's response. `deadlines` ends what takes too long.
"""
