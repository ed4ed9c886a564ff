"""Whether two claims can both hold."""
