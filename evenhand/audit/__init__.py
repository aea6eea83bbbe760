"""The contract of an audit."""
