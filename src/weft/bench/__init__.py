"""`weft bench`: Weft beside other crawlers, on a site of this machine.

A site is written to a directory (`pages`, `site`) and served by nginx (`nginx`). Each contestant
(`contestants`, `field`) crawls all of it in processes of its own, one contestant after the other,
round after round (`rounds`). A meter (`meter`, `trial`) sees what the whole tree of processes
costs, and a check (`check`) whether every page was fetched once. Medians become rows with ratios
and limits (`rows`, `limits`), a table, JSON (`report`) and a plot (`plot`).
"""
