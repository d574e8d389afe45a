"""A machine that crawls: worker processes, who keeps them, and the agent that serves jobs."""
