"""What a crawl can do besides fetching pages: media files, raw pages."""
