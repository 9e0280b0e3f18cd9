"""`python -m autoj` and the command `autoj`; a Ctrl-C is told in a word while it still imports."""

import sys
from importlib import import_module


def main() -> None:
    """Run the command line and exit."""
    try:
        run = import_module("autoj.cli").main
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
