"""Items in MongoDB: one document each, in the collection that `mongodb://host/db/collection` names.

address     parses what the user wrote, and makes the client for it
document    an item as a document, and back
rights      the user's privileges
writing     writes documents to the collection, new and known ones
problems    server errors as our own
sink        the `Sink` made of these
"""

from weft.sinks.base import SinkConfig
from weft.sinks.mongodb.address import parse_address
from weft.sinks.mongodb.sink import MongoSink

__all__ = ["MongoSink", "make_sink"]


def make_sink(output: str, config: SinkConfig) -> MongoSink:
    """Raises ConfigError if `output` is not the address of a collection."""
    return MongoSink(parse_address(output), config.job)
