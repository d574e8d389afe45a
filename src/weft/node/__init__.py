"""A machine that crawls: worker processes, their supervisors, and the agent that serves jobs."""
