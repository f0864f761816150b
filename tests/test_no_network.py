"""The guard of conftest.py against the network."""

from __future__ import annotations

import asyncio
import socket

import pytest


def test_connections_and_lookups_are_refused() -> None:
    with socket.socket() as probe, pytest.raises(RuntimeError, match="no network in tests"):
        probe.connect(("127.0.0.1", 9))
    with socket.socket() as probe, pytest.raises(RuntimeError, match="no network in tests"):
        probe.connect_ex(("127.0.0.1", 9))
    with pytest.raises(RuntimeError, match="no network in tests"):
        socket.create_connection(("localhost", 9), timeout=1)


def test_an_event_loop_still_runs() -> None:
    assert asyncio.run(asyncio.sleep(0, "ran")) == "ran"
