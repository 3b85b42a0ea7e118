"""A rank that is killed while it trains on a GPU, and how the others end."""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time

import cases
from run_layout import steps_so_far

RANKS, VICTIM = 4, 1
PEER_DIED = 12  # exit code
# When the rank is killed: with so many steps in the log, which a graph launches by then; with so many operations
# begun; in the barrier behind a checkpoint of the first step, behind which the second is captured.
MOMENTS = {"graphs": lambda death: steps_so_far(death.log) >= 3,
           "step 1": lambda death: death.operations() >= 20,
           "step 2": lambda death: death.operations() > death.first_step}
SAVES = {"step 2": 1}  # every how manieth step is saved
STARTED, ENDED = 60, 90  # seconds, at most: until the moment, and behind it


class Death:
    """A run of `bundle` whose rank VICTIM is killed at a moment; `wrong` is empty where it ended as it should. With how
    many operations that rank ends the first step is known from the death in graphs, and `first_step` here."""

    def __init__(self, node, bundle, packed, results, moment, environment, first_step=0):
        shutil.rmtree(results, ignore_errors=True)
        os.makedirs(results)
        self.node, self.results, self.first_step = node, results, first_step
        self.records, self.saved = (os.path.join(results, name) for name in ("records", "saved"))
        self.log, self.ranks, self.flight = os.path.join(results, "log.jsonl"), [], None
        saves = ["--checkpoints", self.saved, "--save-interval", str(SAVES[moment])] if moment in SAVES else []
        with open(os.path.join(results, "said"), "w+") as said:
            # In a session of its own: should it not end, all of it is killed.
            self.job = subprocess.Popen([node, "run", bundle, *cases.reading(packed, results), "--comm", "nccl", "--steps",
                                         "1000000", "--flight", self.records, *saves], stdout=said, stderr=said,
                                        stdin=subprocess.DEVNULL, env=environment, start_new_session=True)
            try:
                came = self.wait_for(moment)
                begin = time.monotonic()
                over = came and self.kill()
                self.seconds = time.monotonic() - begin
            finally:
                self.end_all()
            said.seek(0)
            self.said = said.read()
        self.wrong = self.judge(came, over)
        self.told = "" if self.wrong else self.tell()

    def wait_for(self, moment):
        """Whether it came."""
        end = time.monotonic() + STARTED
        while self.job.poll() is None and time.monotonic() < end:
            if MOMENTS[moment](self):
                self.ranks = children(self.job.pid)
                return len(self.ranks) == RANKS
            time.sleep(0.001)
        return False

    def operations(self):
        """How many the victim has begun: the first word of its part of the flight record, which is memory of
        the job."""
        self.flight = self.flight or flight_of(self.job.pid)
        if not self.flight:
            return 0
        self.flight.seek(os.fstat(self.flight.fileno()).st_size // RANKS * VICTIM)
        found = self.flight.read(8)
        return struct.unpack("Q", found)[0] if len(found) == 8 else 0

    def kill(self):
        """Whether the run ended behind that in time."""
        os.kill(self.ranks[VICTIM], signal.SIGKILL)
        try:
            self.job.wait(ENDED)
            return True
        except subprocess.TimeoutExpired:
            return False

    def end_all(self):
        """Of the job, whatever is left."""
        try:
            os.killpg(self.job.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.job.wait()
        if self.flight:
            self.flight.close()

    def judge(self, came, over):
        if not came:
            return f"the moment did not come in {STARTED} s, or the run ended: {self.said[-2000:]}"
        if not over:
            return f"the run did not end in {ENDED} s and was killed: {self.said[-2000:]}"
        if self.job.returncode != PEER_DIED or f"error: rank {VICTIM}: killed by signal 9" not in self.said:
            return f"expected exit code {PEER_DIED} and that rank {VICTIM} is named, found {self.job.returncode}: {self.said[-2000:]}"
        if self.culprit() != VICTIM:
            return f"mtc flight blames {self.culprit()}"
        if left := [rank for rank in self.ranks if os.path.exists(f"/proc/{rank}")]:
            return f"{len(left)} of {RANKS} ranks are left"
        return ""

    def tell(self):
        """Where the rank was, and in what."""
        last = max(self.record(), key=lambda each: each["record_id"])
        captured = self.first_step and last["mtc"]["step"] == 1 and last["record_id"] > self.first_step
        told = re.search(r"error: (rank \d+: .*?)(;|$)", self.said, re.M)
        return told[1] + (", as the second was captured" if captured else "")

    def record(self):
        """Operations of the victim."""
        with open(os.path.join(self.records, f"rank{VICTIM:05}.json")) as file:
            found = json.load(file)
        return found["entries"] + found["rows"]

    def last_of_first_step(self):
        return 0 if self.wrong else max(each["record_id"] for each in self.record() if each["mtc"]["step"] == 1)

    def culprit(self):
        done = subprocess.run([self.node, "flight", self.records, "--json"], capture_output=True, text=True, timeout=60)
        return json.loads(done.stdout)["culprit"] if done.returncode == 0 else done.stderr


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return list(map(int, file.read().split()))


def flight_of(pid):
    """The file that is a job's flight record, once there is one."""
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            path = f"/proc/{pid}/fd/{name}"
            if "mtc:flight" in os.readlink(path):
                return open(path, "rb", buffering=0)
    except OSError:  # it has just ended
        pass
    return None
