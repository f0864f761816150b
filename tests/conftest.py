"""What holds for every test: no network, and in CI the same generated cases each time."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest
from hypothesis import settings

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


class NetworkRefusedError(RuntimeError):
    """A test, or the code under test, tried to reach the network."""


def _refuse(*asked: object, **options: object) -> NoReturn:
    raise NetworkRefusedError(f"no network in tests: {asked}")


@pytest.fixture(autouse=True, scope="session")
def no_network() -> Iterator[None]:
    """Refuse every connection and name lookup of this process; local sockets and pairs (asyncio's own) still work."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def guarded_connect(self: socket.socket, address: Any) -> None:
        return connect(self, address) if self.family == socket.AF_UNIX else _refuse(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        return connect_ex(self, address) if self.family == socket.AF_UNIX else _refuse(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patch.setattr(socket, "getaddrinfo", _refuse)
        yield
