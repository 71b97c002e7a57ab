"""What all systems share, without actors: how links are divided, and how shared work advances."""
