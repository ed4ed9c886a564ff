"""What of a bank belongs together, and what it has in common."""
