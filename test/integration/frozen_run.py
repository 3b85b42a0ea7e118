"""A run that stands still between two instructions of some step, to be looked at."""

import os
import re
import signal
import subprocess
import time

from run_layout import Failed

ARENA = re.compile(r"/memfd:mtc:r(\d+):(\w+)")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def rank_of(pid):
    """The rank that a process is, None if it is none (yet)."""
    with open(f"/proc/{pid}/environ", "rb") as file:
        for variable in file.read().split(b"\0"):
            if variable.startswith(b"MTC_RANK="):
                return int(variable.split(b"=")[1])
    return None


def arenas_of(pid):
    """Bytes of address space by (rank, arena), of the process's own arenas and of
    the peers' that it has mapped."""
    sizes, key = {}, None
    with open(f"/proc/{pid}/smaps") as file:
        for line in file:
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                found = ARENA.search(line)
                key = (int(found[1]), found[2]) if found else None
            elif key and line.startswith("Size:"):
                sizes[key] = sizes.get(key, 0) + 1024 * int(line.split()[1])
    return sizes


class FrozenRun:
    """Starts `mtc run` of a long training and stops its ranks after `step`."""

    def __init__(self, mtc, bundle, recipe, log, ranks, step=2):
        self.process = subprocess.Popen(
            [mtc.program, "run", bundle, *map(str, recipe), "--steps", "1000000",
             "--quiet", "--log", log], stderr=subprocess.PIPE, text=True)
        try:
            self.wait_for_step(log, step)
            self.ranks = {rank_of(pid): pid for pid in children(self.process.pid)}
            if set(self.ranks) != set(range(ranks)):
                raise Failed(f"expected {ranks} processes, found ranks "
                             f"{list(self.ranks)}")
            self.signal(signal.SIGSTOP)
        except BaseException:
            self.process.kill()  # the ranks die with it
            self.process.communicate()
            raise

    def wait_for_step(self, log, step):
        for _ in range(6000):
            if os.path.exists(log):
                with open(log) as file:
                    if len(file.readlines()) >= step:
                        return
            if self.process.poll() is not None:
                raise Failed(f"the run ended: {self.process.communicate()[1]}")
            time.sleep(0.01)
        raise Failed(f"no step {step} within a minute")

    def signal(self, number):
        for pid in self.ranks.values():
            os.kill(pid, number)

    def arenas(self, rank):
        return arenas_of(self.ranks[rank])

    def end(self):
        """Lets it go on to the end of its step. Returns the exit code."""
        self.signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
        return self.process.returncode
