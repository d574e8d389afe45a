"""From claim to outcome: what this worker has claimed, and what becomes of it."""
