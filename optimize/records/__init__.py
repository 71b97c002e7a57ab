"""What a search leaves behind, as plain values that all rooms share.

Imports no other room.
"""
