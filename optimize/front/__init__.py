"""The front: which points no other beats, how surely, which to choose, and its forms as text and data."""
