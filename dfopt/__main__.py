"""Makes ``python -m dfopt`` the command ``dfopt``."""

from dfopt_cli.__main__ import main

if __name__ == "__main__":
    main()
