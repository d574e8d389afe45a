"""What a crawl without code means: how pages are read."""
