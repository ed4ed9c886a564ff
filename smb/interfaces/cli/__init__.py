"""The command line: parse, call `Bank`, render. Never opens a store itself."""
