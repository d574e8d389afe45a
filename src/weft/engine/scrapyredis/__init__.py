"""Moving a crawl from scrapy-redis: its queue and its dupefilter into a frontier of Weft.

`source` reads Redis, `plainpickle` reads pickles without running them, `entries` makes Scrapy
requests of what it reads, `packing` packs these as a crawl would, `transfer` does the whole.
"""
