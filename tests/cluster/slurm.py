"""A real Slurm on one machine, for tests: three nodes, two of them with two GPUs that are none, bound to loopback.

Needs root and Debian's packages, which tests/debian.py installs. There is no accounting: jobs are watched with squeue.
"""

import os
import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from tests.debian import Unavailable, install
from tests.moments import PATIENCE, is_running, wait

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "munged", "setpriv")
PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge")
NODES = ("node1", "node2", "node3")
GPU_NODES = NODES[:2]
PORT = 17817
ETC = Path("/etc/slurm")
CONFIGURATIONS = ("slurm.conf", "gres.conf", "cgroup.conf")


@dataclass(frozen=True)
class Cluster:
    """The cluster whose configuration, logs and state are in `folder`, where SLURM_CONF has Slurm's commands look."""

    folder: Path

    def up(self) -> None:
        """Start everything, and wait until all nodes are idle; raises `Unavailable` where there can be no Slurm."""
        if os.geteuid() != 0:
            raise Unavailable("Slurm's daemons need root here")
        install(PACKAGES, PROGRAMS)
        self.folder.chmod(0o755)
        self._configure()
        self._start_munge()
        self.run("slurmctld")
        wait(self._answers)
        for node in NODES:
            self.start_node(node)
        wait(self._is_idle)

    def down(self) -> None:
        """End everything that was started, nodes first."""
        for name in (*(f"slurmd.{node}" for node in NODES), "slurmctld", "munge/munged"):
            self._end(self.folder / f"{name}.pid")
        for name in CONFIGURATIONS:
            if (ETC / name).is_symlink() and (ETC / name).resolve() == (self.folder / name).resolve():
                (ETC / name).unlink()

    def run(self, *command: str) -> str:
        """The output of one of Slurm's commands."""
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr or done.stdout}")
        return done.stdout.strip()

    def jobs(self, field: str = "%i %T %N") -> list[str]:
        """The jobs that are waiting or running, in squeue's format."""
        return self.run("squeue", "--noheader", f"--format={field}").splitlines()

    def start_node(self, node: str) -> None:
        (self.folder / "spool" / node).mkdir(parents=True, exist_ok=True)
        self.run("slurmd", "-N", node)

    def kill_node(self, node: str) -> None:
        """Have a node die: its daemon, and all that runs on it."""
        daemon = psutil.Process(int((self.folder / f"slurmd.{node}.pid").read_text()))
        jobs = self.run("squeue", "--noheader", f"--nodelist={node}", "--format=%i").splitlines()
        titles = tuple(f"slurmstepd: [{job}." for job in jobs)
        every = psutil.process_iter(["cmdline"])
        keepers = [each for each in every if " ".join(each.info["cmdline"] or ()).startswith(titles)]
        work = [below for keeper in keepers for below in keeper.children(recursive=True)]
        for doomed in (daemon, *keepers, *work):
            # Some end with those that went before them.
            with suppress(psutil.NoSuchProcess):
                doomed.kill()
        self.run("scontrol", "update", f"nodename={node}", "state=down", "reason=killed")

    def revive_node(self, node: str) -> None:
        """Start a node that died again."""
        shutil.rmtree(self.folder / "spool" / node)
        # ReturnToService=2 has it back in service as soon as it says that it is there.
        self.start_node(node)
        wait(self._is_idle)

    def _answers(self) -> bool:
        with suppress(RuntimeError):
            self.run("scontrol", "ping")
            return True
        return False

    def _is_idle(self) -> bool:
        states = self.run("sinfo", "--noheader", "--Node", "--partition=main", "--format=%T")
        return states.splitlines() == ["idle"] * len(NODES)

    def _configure(self) -> None:
        host, folder = socket.gethostname().split(".")[0], self.folder
        nodes = [
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={PORT + 11 + number} CPUs=4 RealMemory=16000 "
            + ("Gres=gpu:2 " if node in GPU_NODES else "")
            + "State=UNKNOWN"
            for number, node in enumerate(NODES)
        ]
        settings = {
            "ClusterName": "preln",
            "SlurmctldHost": f"{host}(127.0.0.1)",
            "SlurmctldPort": PORT,
            # Bound to loopback alone.
            "CommunicationParameters": "NoCtldInAddrAny,NoInAddrAny,DisableIPv6",
            # A requeued job may begin again when its credential has expired.
            "AuthInfo": f"socket={folder}/munge/munge.socket,cred_expire=30",
            "StateSaveLocation": f"{folder}/state",
            "SlurmdSpoolDir": f"{folder}/spool/%n",
            "SlurmctldPidFile": f"{folder}/slurmctld.pid",
            "SlurmdPidFile": f"{folder}/slurmd.%n.pid",
            "SlurmctldLogFile": f"{folder}/slurmctld.log",
            "SlurmdLogFile": f"{folder}/slurmd.%n.log",
            # Nothing that needs control groups or systemd.
            "ProctrackType": "proctrack/linuxproc",
            "TaskPlugin": "task/none",
            "JobAcctGatherType": "jobacct_gather/none",
            "SelectType": "select/cons_tres",
            "SelectTypeParameters": "CR_Core_Memory",
            "SchedulerParameters": "sched_interval=1,sched_min_interval=0,bf_interval=2,batch_sched_delay=0",
            "DefMemPerCPU": 100,
            "GresTypes": "gpu",
            "ReturnToService": 2,
            "PreemptType": "preempt/partition_prio",
            "PreemptMode": "REQUEUE",
            # Long timeouts, for slow machines.
            "KillWait": PATIENCE,
            "MinJobAge": 2 * PATIENCE,
            "SlurmdTimeout": PATIENCE,
            "BatchStartTimeout": PATIENCE,
            "UnkillableStepTimeout": PATIENCE,
            "MessageTimeout": 100,
            # A machine with fewer cores than its nodes say is fine.
            "SlurmdParameters": "config_overrides",
        }
        for name in ("state", "spool", "munge", "dev"):
            (folder / name).mkdir()
        lines = [f"{key}={value}" for key, value in settings.items()]
        partitions = [
            f"PartitionName=main Nodes=ALL Default=YES DefaultTime=60 MaxTime=INFINITE State=UP GraceTime={PATIENCE}",
            "PartitionName=urgent Nodes=ALL PriorityTier=2 State=UP",
        ]
        (folder / "slurm.conf").write_text("\n".join([*lines, *nodes, *partitions]) + "\n")
        for number in (0, 1):
            # Slurm shows a GPU to a job only if its file is a device; this one is that of /dev/null.
            os.mknod(folder / "dev" / f"gpu{number}", 0o020666, os.makedev(1, 3))
        gpus = [f"NodeName={node} Name=gpu File={folder}/dev/gpu[0-1]" for node in GPU_NODES]
        (folder / "gres.conf").write_text("\n".join(gpus) + "\n")
        constraints = [f"Constrain{resource}=no" for resource in ("Cores", "RAMSpace", "Devices")]
        mount = [f"CgroupMountpoint={folder}/no-cgroup", "CgroupPlugin=cgroup/v1"]
        (folder / "cgroup.conf").write_text("\n".join([*mount, *constraints]) + "\n")
        # Snakemake's jobs lose SLURM_CONF on their way, so the configuration is also where Slurm looks by itself.
        ETC.mkdir(exist_ok=True)
        for name in CONFIGURATIONS:
            if (ETC / name).exists() and not (ETC / name).is_symlink():
                raise Unavailable(f"{ETC / name} is there already: this machine has a Slurm of its own")
            (ETC / name).unlink(missing_ok=True)
            (ETC / name).symlink_to(folder / name)

    def _start_munge(self) -> None:
        munge = self.folder / "munge"
        key = munge / "munge.key"
        key.write_bytes(os.urandom(1024))
        munge.chmod(0o755)
        key.chmod(0o400)
        for path in (munge, key):
            shutil.chown(path, "munge", "munge")
        self.run(
            *("setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged", "--force"),
            *(f"--key-file={key}", f"--socket={munge}/munge.socket"),
            *(f"--{kind}-file={munge}/munged.{kind}" for kind in ("pid", "log", "seed")),
        )
        wait((munge / "munge.socket").exists)

    def _end(self, pid_file: Path) -> None:
        if pid_file.exists():
            process = int(pid_file.read_text())
            if is_running(process):
                os.kill(process, signal.SIGTERM)
                wait(lambda: not is_running(process))
