"""The version of Evenhand."""

__version__ = "0.1.0"
