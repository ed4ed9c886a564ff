"""What words and figures mean to evolution, and which of them mean the same or the opposite."""
