"""A network namespace whose only interface is a loopback of limited rate: a slow network between processes."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

# A bucket holds several packets of the loopback, 64 KiB each, and what passes before a timer that is late.
LEAST_BURST = 256 << 10
LATE_SECONDS = 2e-3
UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


class NotAllowed(Exception):
    """The permissions or the tools for network namespaces are missing."""


def bytes_per_second(rate: str) -> float:
    """Converts a rate as `tc` writes it: 1gbit, 500mbit."""
    match = re.fullmatch(r"([0-9.]+)(kbit|mbit|gbit)", rate)
    if match is None:
        raise ValueError(f"'{rate}' is not a rate; help: write it as 1gbit or 500mbit")
    return float(match[1]) * UNITS[match[2]] / 8


def shape(rate: str) -> tuple[str, ...]:
    """The arguments of `tc` for a loopback of this rate."""
    burst = max(LEAST_BURST, round(bytes_per_second(rate) * LATE_SECONDS))
    return ("rate", rate, "burst", str(burst), "latency", "50ms")


def run(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise NotAllowed(f"{command[0]} is not installed; help: apt-get install iproute2") from None
    if done.returncode != 0:
        raise NotAllowed(f"'{' '.join(command)}': {done.stderr.strip()}")
    return done.stdout


# Computing and sending take as long beside each other as alone; collectives share the rate.
ALONE = {"compute_slowdown": 1, "communication_slowdown": 1, "concurrent_slowdown": 2}


def cluster_of(measured: dict, rate: str, overlap: dict = ALONE) -> dict:
    """The cluster of processes of one machine that share a loopback of this rate; `measured` has its computing, and
    `overlap` how computing and sending slow each other down.

    Without tables of collectives their times are those of their bytes, and everything that is sent at the same time
    shares the rate.
    """
    everything = bytes_per_second(rate)
    link = {"latency_seconds": 1e-4, "bytes_per_second": everything, "node_bytes_per_second": everything}
    source = f"{measured['source']}; a loopback of {rate} as tc limits it"
    return measured | {"source": source, "links": {"node": link}, "collectives": [], "overlap": overlap}


def faster(compute: dict, factor: float) -> dict:
    """`compute` of a cluster file with all rates multiplied by `factor`, so that operators take as much less time."""

    def scaled(value: object) -> object:
        if isinstance(value, dict):
            return {key: scaled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [each * factor for each in value]
        assert isinstance(value, (int, float))
        return value * factor

    rates = ("flops_per_second", "bytes_per_second")
    tables = {
        name: [{key: scaled(value) if key in rates else value for key, value in row.items()} for row in compute[name]]
        for name in ("products", "operators")
        if name in compute
    }
    launch = {"launch_seconds": compute["launch_seconds"] / factor} if "launch_seconds" in compute else {}
    return compute | {rate: scaled(compute[rate]) for rate in rates} | tables | launch


def sent_bytes(devices: str) -> int:
    """Bytes that the loopback has sent, from the text of /proc/net/dev; the first eight columns are about receiving."""
    for line in devices.splitlines():
        name, _, columns = line.partition(":")
        if name.strip() == "lo":
            return int(columns.split()[8])
    raise ValueError("there is no loopback among the devices")


@dataclass(frozen=True)
class Network:
    name: str

    def prefix(self) -> tuple[str, ...]:
        """The beginning of a command that runs in the namespace."""
        return ("ip", "netns", "exec", self.name)

    def sent(self) -> int:
        """Bytes that all processes in the namespace have sent so far, including headers."""
        return sent_bytes(run(*self.prefix(), "cat", "/proc/net/dev"))

    def attained(self, size: int) -> float:
        """Bytes per second of one connection that sends `size` bytes: what the limit and this machine allow."""
        return size / float(run(*self.prefix(), sys.executable, "-m", "bench.loopback", str(size)))


@contextlib.contextmanager
def limited(rate: str) -> Iterator[Network]:
    network = Network(f"meshplan-bench-{os.getpid()}")
    run("ip", "netns", "add", network.name)
    try:
        run(*network.prefix(), "ip", "link", "set", "lo", "up")
        run(*network.prefix(), "tc", "qdisc", "add", "dev", "lo", "root", "tbf", *shape(rate))
        yield network
    finally:
        run("ip", "netns", "delete", network.name)
