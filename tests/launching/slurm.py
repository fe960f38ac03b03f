# SPDX-License-Identifier: Apache-2.0
"""A Slurm of one node on this machine: the real daemons, all files in one folder."""
import os
import pathlib
import shutil
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "sinfo")
CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=30
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Why there can be no cluster; empty where there can."""
    path = os.environ["PATH"] + ":/usr/sbin"
    lacking = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    if lacking:
        return f"{', '.join(lacking)} missing: scripts/setup.sh --slurm"
    return "" if os.geteuid() == 0 else "slurmd has to run as root"


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


class Cluster:
    def __init__(self, folder):
        self.folder, self._running = pathlib.Path(folder), []

    def _start(self, *command, environment=None):
        log = open(self.folder / f"{pathlib.Path(command[0]).name}.out", "wb")
        with log:
            self._running.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment, stdin=subprocess.DEVNULL))

    def start(self):
        """What a program needs in its environment to use the cluster."""
        munge = self.folder / "munge"
        for name in ("munge", "state", "spool"):
            (self.folder / name).mkdir(parents=True)
        munge.chmod(0o711)
        (munge / "key").write_bytes(os.urandom(128))
        (munge / "key").chmod(0o400)
        self._start("/usr/sbin/munged", "--foreground", "--force", f"--socket={munge / 'socket'}", f"--key-file={munge / 'key'}",
                    f"--pid-file={munge / 'pid'}", f"--log-file={munge / 'log'}", f"--seed-file={munge / 'seed'}")
        host = socket.gethostname().split(".")[0]
        configuration = self.folder / "slurm.conf"
        configuration.write_text(CONFIGURATION.format(host=host, controller=free_port(), node=free_port(), folder=self.folder),
                                 encoding="utf-8")
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n", encoding="utf-8")
        environment = os.environ | {"SLURM_CONF": str(configuration)}
        self._start("/usr/sbin/slurmctld", "-D", "-f", str(configuration), environment=environment)
        self._start("/usr/sbin/slurmd", "-D", "-f", str(configuration), "-N", host, environment=environment)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            state = subprocess.run(["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True, check=False).stdout
            if state.strip() == "idle":
                return {"SLURM_CONF": str(configuration)}
            time.sleep(0.2)
        self.stop()
        logs = "\n".join(path.read_text(encoding="utf-8", errors="replace")[-2000:] for path in self.folder.rglob("*.log"))
        raise RuntimeError(f"Slurm does not start; its node is {state!r}.\n{logs}")

    def stop(self):
        for daemon in reversed(self._running):
            daemon.terminate()
        for daemon in self._running:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._running = []
