"""Tables in, binned columns out."""
