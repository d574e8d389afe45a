"""The crawl of boards: a spider that reads pages, and what it works with."""
