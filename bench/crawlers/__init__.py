"""`make bench`: Weft compared with other crawlers, on a site on this machine.

A site is written to a directory (`pages`, `site`) and served by nginx (`nginx`). Each contestant
(`contestants`, `field`) crawls all of it in its own processes, one contestant after the other,
round after round (`rounds`). A meter (`meter`, `trial`) measures the cost of the whole process
tree, and a check (`check`) whether every page was fetched once. Medians become rows with ratios and
limits (`rows`, `limits`), a table, JSON (`report`) and a plot (`plot`).
"""
