"""The frontier on Redis or Valkey, shared by all workers of a job."""
