"""Over several models: structure of bias, metrics against each other, temperatures, attributes."""
