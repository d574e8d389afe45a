"""Items in an SQLite file."""
