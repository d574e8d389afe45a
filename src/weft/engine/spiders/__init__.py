"""The spiders that come with Weft."""
