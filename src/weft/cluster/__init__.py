"""Who serves which bucket of a job: members, plans, leases."""
