"""What commands do beyond a call of the Python API, a module for each command.

Their names and options stand in `cli.py`.
"""
