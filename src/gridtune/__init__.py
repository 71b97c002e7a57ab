"""gridtune: simulate grid middleware under scheduling policies, and search the policies' parameters."""
