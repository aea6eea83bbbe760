"""The bundled domains, a package each. They are found by name; none is imported before it is named."""
