"""The version of the installed distribution."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("gridtune")
except PackageNotFoundError:  # run from its sources
    __version__ = "0+unknown"
