"""`python -m smb` is `smb`."""

from smb.interfaces.cli.app import main

if __name__ == "__main__":
    main()
