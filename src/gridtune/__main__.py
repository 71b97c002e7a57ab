"""`python -m gridtune` is the command line."""

from gridtune.cli import main

if __name__ == "__main__":
    main()
