"""Scrapy on a frontier. This is the only package that imports Scrapy.

How a request goes through here: `scheduler` packs what Scrapy hands it (`pack`, `fingerprint`) and
puts it into the `buffer`; the buffer's background rounds store items, add links, finish claims and
claim anew, in that order. Claims wait in `ready` until Scrapy asks; `gate` keeps the delay of a
host to the moment of sending; `outcome` gathers what became of the request until `held` says that
Scrapy has let go of it.
"""
