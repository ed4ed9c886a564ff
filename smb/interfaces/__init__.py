"""Ways in: each parses, calls `Bank`, renders."""
