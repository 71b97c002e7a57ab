"""What commands do beyond a call of the Python API; their names and options stand in `cli.py`."""
