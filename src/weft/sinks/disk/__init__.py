"""What outputs on disk have in common."""
