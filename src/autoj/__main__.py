"""`python -m autoj` is `autoj`."""

from autoj.cli import main

if __name__ == "__main__":
    main()
