"""Raw pages in WARC files."""
