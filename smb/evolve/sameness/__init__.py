"""Whether two names, or two claims, are of one thing."""
