"""Run as ``ctxhost`` or ``python -m host``."""

from __future__ import annotations


def main() -> None:
    """Enter the command line."""
    from host.cli import run

    raise SystemExit(run())


if __name__ == "__main__":
    main()
