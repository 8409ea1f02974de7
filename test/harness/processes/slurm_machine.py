"""A Slurm of this machine alone, for a test: munged, slurmctld and slurmd with a configuration of their own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

PROGRAMS = ["munged", "slurmctld", "slurmd", "srun", "sbatch", "scontrol", "sinfo", "squeue"]
SECONDS = 60

CONFIGURATION = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldPort={controller}
SlurmdPort={node}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
JobRequeue=1
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
NodeName={host} NodeAddr=127.0.0.1 Port={node} CPUs=16 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """Why there can be no Slurm here; empty if there can."""
    names = [name for name in PROGRAMS if not program(name)]
    if names:
        return f"{', '.join(names)} not installed (Debian: slurmd slurmctld slurm-client munge)"
    return "" if os.geteuid() == 0 else "slurmd needs root"


def program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class SlurmMachine:
    """Runs while the block lasts. `environment` is for the commands of Slurm."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        # A Slurm that this test itself runs in is another one.
        for name in list(self.environment):
            if name.startswith("SLURM_") and name != "SLURM_CONF":
                del self.environment[name]
        self.daemons: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> SlurmMachine:
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        controller, node = free_ports(2)
        text = CONFIGURATION.format(host=socket.gethostname(), folder=self.folder, controller=controller, node=node)
        (self.folder / "slurm.conf").write_text(text)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        paths = {"socket": "munge.socket", "key-file": "munge.key", "pid-file": "munged.pid"}
        paths |= {"log-file": "munged.log", "seed-file": "munge.seed"}
        munge = [f"--{option}={self.folder / name}" for option, name in paths.items()]
        try:
            self.start("munged", "--foreground", "--force", *munge)
            self.wait_for(lambda: (self.folder / "munge.socket").exists(), "munged")
            self.start("slurmctld", "-D")
            self.start("slurmd", "-D")
            self.wait_for(lambda: self.output("sinfo", "--noheader", "--format=%T").strip() == "idle", "the node")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self, name: str, *words: str) -> None:
        path = program(name)
        assert path
        with open(self.folder / f"{name}.out", "wb") as out:
            self.daemons.append(subprocess.Popen([path, *words], env=self.environment, stdout=out, stderr=out))

    def stop(self) -> None:
        """The last one first: a node that goes before its controller says good-bye."""
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                daemon.kill()
        self.daemons.clear()

    def output(self, name: str, *words: str) -> str:
        """What a command of Slurm prints, on stderr too."""
        command = [program(name) or name, *words]
        merged = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.run(command, env=self.environment, **merged, text=True, timeout=SECONDS, check=False).stdout

    @staticmethod
    def wait_for(condition: Callable[[], bool], what: str, seconds: float = SECONDS) -> None:
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"{what}: nothing within {seconds} s")
            time.sleep(0.2)
