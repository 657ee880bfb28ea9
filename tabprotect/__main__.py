"""``python -m tabprotect``."""

from tabprotect.cli import main

if __name__ == "__main__":
    main()
