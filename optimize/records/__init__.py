"""What a search leaves behind, as plain values that all rooms share; it imports no other room."""
