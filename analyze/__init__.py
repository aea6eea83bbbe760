"""The analyzer: effects, inconsistency and error of any domain's frame, in SQL and pyfixest."""
