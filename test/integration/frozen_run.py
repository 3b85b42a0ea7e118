"""A run that stands still between two instructions of some step, to be looked at."""

import os
import re
import signal
import subprocess
import time

from run_layout import Failed

# Of shm, and of threads where the kernel keeps names of anonymous mappings.
ARENA = re.compile(r"/memfd:mtc:r(\d+):(\w+)|\[anon:mtc rank (\d+) (\w+)\]")


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
                key = found and (int(found[1] or found[3]), found[2] or found[4])
            elif key and line.startswith("Size:"):
                sizes[key] = sizes.get(key, 0) + 1024 * int(line.split()[1])
    return sizes


def anonymous_of(pid):
    """[begin, end) of the private, writable memory of a process that no file backs,
    neighbours joined, in ascending order."""
    ranges = []
    with open(f"/proc/{pid}/smaps") as file:
        for line in file:
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ 0 *(\[anon:.*)?$",
                             line)
            if not found:
                continue
            begin, end = int(found[1], 16), int(found[2], 16)
            if ranges and ranges[-1][1] == begin:
                begin = ranges.pop()[0]
            ranges.append((begin, end))
    return ranges


class FrozenRun:
    """Starts `mtc run` of a long training and stops its ranks after `step`. With
    `threads` all ranks are in one process, under None."""

    def __init__(self, mtc, bundle, recipe, log, ranks, step=2, comm="shm"):
        self.process = subprocess.Popen(
            [mtc.program, "run", bundle, *map(str, recipe), "--steps", "1000000",
             "--quiet", "--comm", comm, "--log", log],
            stderr=subprocess.PIPE, text=True)
        try:
            self.wait_for_step(log, step)
            if comm == "threads":
                self.ranks = {None: self.process.pid}
            else:
                self.ranks = {rank_of(pid): pid
                              for pid in children(self.process.pid)}
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
                    if len(file.readlines()) > step:  # behind the header
                        return
            if self.process.poll() is not None:
                raise Failed(f"the run ended: {self.process.communicate()[1]}")
            time.sleep(0.01)
        raise Failed(f"no step {step} within a minute")

    def signal(self, number):
        for pid in self.ranks.values():
            os.kill(pid, number)

    def arenas(self, rank=None):
        return arenas_of(self.ranks[rank])

    def files(self, rank):
        """Names of the memory files that the process of a rank maps."""
        with open(f"/proc/{self.ranks[rank]}/maps", encoding="utf-8") as file:
            return sorted(set(re.findall(r"/memfd:(mtc:\S+)", file.read())))

    def anonymous(self):
        return anonymous_of(self.ranks[None])

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
