"""Entry point of `python -m overspill`."""

from overspill.cli import main

main()
