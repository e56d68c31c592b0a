"""Where a service is asked: the host and the path of its address."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit


def host_and_path(url: str) -> tuple[str, str]:
    """Both in small letters, with or without a scheme before them; empty where it is no address."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        return (parts.hostname or "").lower(), parts.path.lower()
    except ValueError:
        return "", ""


def is_in(host: str, domains: Iterable[str]) -> bool:
    """Whether a host is one of these domains, or lies in one."""
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)
