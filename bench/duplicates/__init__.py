"""How well near-duplicates are told from different stories, on real texts."""
