"""When a request may be sent, and how sending is stopped."""
