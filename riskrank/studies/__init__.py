"""Studies, one package per command: a score table and settings in, a document of typed rows out."""
