"""Pages that only a browser can show, fetched by a real Chromium.

A request with `meta["weft_browser"]` goes this way instead of to a download handler; all else about
it stays the same. `handler` takes it, `browsers` lends it a browser, with a limit on pages at a
time, `visit` opens the page in a context of its own and reads it when it has settled, and `traffic`
says what the page may load: its answer, scripts, styles and data, but nothing else and not for
ever.

The browser is asked for one document, and that is one request of the host's budget. Wherever that
leads, by a redirect or by a script, is for the crawl to fetch: it comes back as a redirect.

Only `chromium`, `traffic` and `visit` load Playwright, which comes with `weft[browser]`.
"""
