"""One file a command: read, call its study, hand out the result."""
