"""Studies, one file a command: a score table and checked settings become a document of typed rows."""
