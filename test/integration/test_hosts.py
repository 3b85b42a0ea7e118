"""Ranks of many hosts: over MPI they train to the bits of shm and threads.

Each rank is a process that finds the others by TCP, and MPI by them. They are started by
mtc itself, and by hand, as any launcher does, as ranks of one host or, by their names for
it, of two; those of a host share memory, or are told not to. A rank that is killed is named by all the
others within two seconds, though MPI aborts a rank before it can say so; a run that is stopped
saves, and goes on over another backend.

usage: test_hosts.py BIN_DIR LIBRARY [--all]

LIBRARY, mpi_gives_up.cpp, makes MPI abort. Without --all ranks of one host are not compared
with threads, and rank 0 lives (test_ranks.py kills any).
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import corpus
from layouts import Layout
from run_layout import Failed, Mtc, Report, read_log

SPEC = "gpt2-nano"
DUMPS = ("init", "logits", "grads@2", "params")
COMMS = (("shm",), ("threads",), ("mpi",), ("mpi", "--mpi-inside-hosts"))
LAYOUTS = [
    Layout(tp=2, pp=2, dp=1),
    Layout(tp=2, pp=2, dp=2, zero=1, overlap="grad-reduce"),
]
FAILED, PEER_DIED, HANG, STOPPED_SAVED, USAGE, COMMUNICATION = 1, 12, 13, 9, 2, 14
HANGS = 2  # seconds
# The others hear of a death at once; under load they take their time to end.
NAMED_WITHIN = 2.0


def files(folder):
    contents = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".safetensors"):
            with open(os.path.join(folder, name), "rb") as file:
                contents[name] = file.read()
    return contents


def saves(folder):
    return ["--save", os.path.join(folder, "saved.safetensors")]


def found(log, folder):
    return [(r["loss"], r["grad_norm"]) for r in log], files(folder)


def check_bits(mtc, report, bundle, data, folder, layout, comms):
    recipe = ["--data", data, "--data-type", "u8", "--lr", 1e-3, "--steps", 4]
    results = {}
    for comm in comms:
        place = os.path.join(folder, f"{layout.name}-{''.join(comm)}")
        log = mtc.run(bundle, recipe, place, comm, DUMPS, saves(place))
        results[" ".join(comm)] = found(log, place)
    place = os.path.join(folder, f"{layout.name}-hosts")
    os.mkdir(place)
    log = os.path.join(place, "log.jsonl")
    dumps = [word for what in DUMPS for word in ("--dump", what, place)]
    job = ByHand(mtc, bundle, layout.ranks,
                 [*recipe, "--log", log, *dumps, *saves(place)], hosts=2)
    for rank, (code, error) in enumerate(job.ends()):
        report.expect(code == 0, f"two hosts, rank {rank}: {code}, {error}")
    results["two hosts"] = found(read_log(log), place)
    shm = results["shm"]
    report.expect(len(shm[0]) == 4 and len(shm[1]) == 5,
                  f"{layout.name}: four steps and five files")
    for name, result in results.items():
        report.expect(result == shm, f"{layout.name}: {name} has other bits than shm")
    print(f"  {layout.name}: {', '.join(results)} are equal", flush=True)


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


class ByHand:
    """The ranks of a bundle as processes that this script starts, by options, as many on
    each of some hosts."""

    def __init__(self, mtc, bundle, ranks, arguments, secret="of a test", hosts=1, also=None,
                 quiet=True):
        self.hosts = hosts
        self.quiet = ["--quiet"] if quiet else []
        self.also = also or {}  # more of the environment, by rank
        self.mtc, self.bundle, self.arguments = mtc, bundle, list(map(str, arguments))
        self.master = f"127.0.0.1:{free_port()}"
        self.environment = dict(os.environ, MTC_JOB_SECRET=secret)
        self.processes = [self.start(rank, ranks) for rank in range(ranks)]

    def start(self, rank, ranks, bundle=None, secret=None):
        command = [self.mtc.program, "run", bundle or self.bundle, *self.quiet, "--rank",
                   str(rank), "--world", str(ranks), "--master", self.master,
                   "--rdzv-timeout", "30", *self.arguments]
        environment = dict(self.environment, MTC_HOST=f"host{rank * self.hosts // ranks}",
                           **self.also.get(rank, {}))
        if secret:
            environment["MTC_JOB_SECRET"] = secret
        return subprocess.Popen(command, env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ends(self, timeout=60):
        """Exit code and standard error of each. None is left behind."""
        found = []
        try:
            for process in self.processes:
                _, error = process.communicate(timeout=timeout)
                found.append((process.returncode, error))
        except subprocess.TimeoutExpired:
            raise Failed(f"a rank does not end within {timeout} s") from None
        finally:
            for process in self.processes:
                process.kill()
        return found


def wait_for_steps(log, steps, processes, timeout=60):
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if os.path.exists(log):
            with open(log) as file:
                if file.read().count("\n") >= steps:
                    return
        if any(process.poll() is not None for process in processes):
            break
        time.sleep(0.01)
    raise Failed(f"no step {steps} in {log}: "
                 + "".join(p.stderr.read() for p in processes if p.poll() is not None))


def check_memory(report, job):
    """A rank has mapped arenas of the other one of its host, and of no other."""
    for rank, process in enumerate(job.processes):
        with open(f"/proc/{process.pid}/maps") as file:
            mapped = {int(r) for r in re.findall(r"memfd:mtc:r(\d+):", file.read())}
        report.expect(mapped == {rank, rank ^ 1},
                      f"rank {rank} has mapped memory of ranks {sorted(mapped)}")


def check_death(mtc, report, bundle, data, folder, victim):
    log, records = (os.path.join(folder, f"{name}{victim}") for name in ("death", "lost"))
    job = ByHand(mtc, bundle, 4, ["--data", data, "--data-type", "u8", "--steps", 10 ** 6,
                                  "--flight", records, "--log", log], hosts=2)
    wait_for_steps(log, 2, job.processes)
    check_memory(report, job)
    job.processes[victim].send_signal(signal.SIGKILL)
    began = time.monotonic()
    ends = job.ends()
    spent = time.monotonic() - began
    for rank, (code, error) in enumerate(ends):
        if rank == victim:
            report.expect(code == -signal.SIGKILL, f"rank {rank} ended with {code}")
            continue
        report.expect(code == PEER_DIED
                      and re.search(rf"rank {victim}( on host{victim // 2})? died", error),
                      f"rank {victim} was killed, rank {rank}: {code}, {error}")
    found = json.loads(mtc.call("flight", records, "--json").stdout)
    report.expect(found["culprit"] == victim, f"mtc flight blames {found['culprit']}")
    report.expect(spent < NAMED_WITHIN, f"the others took {spent:.1f} s to end")
    print(f"  rank {victim} is killed: the others end after {spent:.2f} s", flush=True)


def check_abort(mtc, report, bundle, data, folder, library, dies):
    """MPI aborts rank 1, of which the others hear nothing yet. It says which rank died, or,
    if none does, what its own end was."""
    log, sign, records = (os.path.join(folder, f"{name}{dies}")
                          for name in ("abort.jsonl", "sign", "flight"))
    hosts = 4 if dies else 2
    job = ByHand(mtc, bundle, 4, ["--data", data, "--data-type", "u8", "--steps", 10 ** 6,
                                  "--flight", records, "--log", log], hosts=hosts,
                 also={1: {"LD_PRELOAD": library, "MTC_GIVE_UP": sign}})
    wait_for_steps(log, 2, job.processes)
    open(sign, "w").close()
    if dies:
        time.sleep(0.3)
        job.processes[3].send_signal(signal.SIGKILL)
    ends = job.ends()
    code, error = ends[1]
    lines = error.splitlines()
    report.expect("a backtrace of the library" in lines, f"MPI did not abort: {code}, {error}")
    report.expect(re.fullmatch("error: rank 3( on host3)? died; .*", lines[-1]) and code == PEER_DIED
                  if dies else code == 1 and
                  lines[-1].startswith("error: a library could not go on"),
                  f"MPI aborted rank 1: {code}, {error}")
    blamed = 3 if dies else 1
    for rank in {0, 2, 3} - {blamed}:
        code, error = ends[rank]
        report.expect(code == PEER_DIED and
                      re.search(rf"rank {blamed}( on host{blamed * hosts // 4})? died", error),
                      f"MPI aborted rank 1, rank {rank}: {code}, {error}")
    found = json.loads(mtc.call("flight", records, "--json").stdout)
    report.expect(found["culprit"] == blamed, f"mtc flight blames {found['culprit']}")
    print(f"  MPI aborts rank 1: rank {blamed} is blamed by all", flush=True)


def check_hang(mtc, report, bundle, data, folder):
    """A rank that is stopped is blamed by all, and by the records of what they did last: one
    of its host wrote its own."""
    log, records = (os.path.join(folder, name) for name in ("hang.jsonl", "records"))
    job = ByHand(mtc, bundle, 4, ["--data", data, "--data-type", "u8", "--steps", 10 ** 6,
                                  "--timeout", HANGS, "--flight", records, "--log", log], hosts=2)
    wait_for_steps(log, 2, job.processes)
    job.processes[3].send_signal(signal.SIGSTOP)
    began = time.monotonic()
    stopped = job.processes.pop()
    ends = job.ends()
    spent = time.monotonic() - began
    stopped.kill()
    stopped.communicate()
    for rank, (code, error) in enumerate(ends):
        report.expect(code == HANG and re.search(r"no step began for 2 seconds.*: rank 3 in step",
                                                 error),
                      f"rank 3 is stopped, rank {rank}: {code}, {error}")
    report.expect(spent < HANGS + 1, f"a stopped rank was found after {spent:.1f} s")
    found = json.loads(mtc.call("flight", records, "--json").stdout)
    report.expect(found["culprit"] == 3, f"mtc flight blames {found['culprit']}")
    print(f"  rank 3 is stopped: found after {spent:.2f} s", flush=True)


def suspend(job, seconds):
    """As a terminal does with a job, or a scheduler."""
    for number, pause in ((signal.SIGSTOP, seconds), (signal.SIGCONT, 0)):
        for process in job.processes:
            process.send_signal(number)
        time.sleep(pause)


def check_stop(mtc, report, bundle, data, folder):
    """Signals to one rank stop all, behind one step; that all were suspended for longer than
    one of them may be silent changes nothing."""
    log, points = (os.path.join(folder, name) for name in ("stop.jsonl", "points"))
    # The rate is a function of the step alone, whatever the last one is.
    rate = ["--data", data, "--data-type", "u8", "--lr", 1e-3, "--decay", "constant"]
    recipe = [*rate, "--log", log, "--checkpoints", points]
    job = ByHand(mtc, bundle, 4, [*recipe, "--steps", 10 ** 6, "--heartbeat-timeout", 2],
                quiet=False)
    wait_for_steps(log, 3, job.processes)
    suspend(job, 2.5)
    with open(log) as file:
        wait_for_steps(log, file.read().count("\n") + 3, job.processes)
    job.processes[2].send_signal(signal.SIGTERM)
    ends = job.ends()
    for rank, (code, error) in enumerate(ends):
        report.expect(code == STOPPED_SAVED, f"stopped, rank {rank}: {code}, {error}")
    report.expect(re.search(r"checkpoint of step \d+ written", ends[0][1]),
                  f"rank 0 says nothing of the checkpoint: {ends[0][1]}")
    done = len(read_log(log))
    goes_on = mtc.call("run", bundle, "--quiet", *recipe, "--append", "--resume", "--steps",
                       done + 2, "--comm", "shm")
    again = mtc.run(bundle, [*rate, "--steps", done + 2], os.path.join(folder, "whole"))
    found = [(r["step"], r["loss"], r["grad_norm"]) for r in read_log(log)]
    report.expect(found == [(r["step"], r["loss"], r["grad_norm"]) for r in again],
                  f"stopped over mpi behind step {done} and resumed over shm: other bits "
                  f"{goes_on.stderr}")
    print(f"  stopped over mpi behind step {done}, resumed over shm: equal", flush=True)


def check_differences(mtc, report, bundle, other, data):
    arguments = ["--data", data, "--data-type", "u8", "--steps", 1]
    job = ByHand(mtc, bundle, 3, arguments)  # the bundle has 4
    for code, error in job.ends():
        report.expect(code == USAGE and "--rank and --world started 3 ranks" in error,
                      f"too few ranks: {code}, {error}")
    job = ByHand(mtc, bundle, 0, arguments)
    job.processes = [job.start(0, 4), job.start(1, 4, other)]
    for code, error in job.ends():
        report.expect(code == COMMUNICATION and re.search(
            r"rank 1 on \S+ is of another job than rank 0 on \S+: it has the plan", error),
            f"another bundle: {code}, {error}")
    environment = dict(os.environ, RANK="0", WORLD_SIZE="4", PMI_RANK="1", PMI_SIZE="4")
    result = subprocess.run([mtc.program, "run", bundle, *map(str, arguments)],
                            env=environment, capture_output=True, text=True)
    report.expect(result.returncode == USAGE and
                  "torchrun says that this is rank 0 of 4, PMI that it is rank 1 of 4"
                  in result.stderr, f"two launchers: {result.returncode}, {result.stderr}")
    result = mtc.call("run", bundle, "-n", 8, *arguments, check=False)
    report.expect(result.returncode == USAGE and "expected 8 ranks" in result.stderr,
                  f"-n 8: {result.returncode}, {result.stderr}")


def check_no_network(mtc, report, bundle, data):
    """Debian's MPICH moves bytes by UCX, and gives up at its start without a device."""
    nothing = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "none0"}
    job = ByHand(mtc, bundle, 4, ["--data", data, "--data-type", "u8", "--steps", 1],
                 also=dict.fromkeys(range(4), nothing))
    ends = job.ends()  # who comes last may hear of the others first
    report.expect({code for code, _ in ends} <= {FAILED, PEER_DIED} and
                  any("MPICH does not begin: it gave up" in error for _, error in ends),
                  f"no network: {ends}")


def check_team_note(mtc, report, data, folder):
    """Threads that have to share cores are spoken of once, however ranks are started by mtc."""
    threads = len(os.sched_getaffinity(0))
    bundle = mtc.compile(SPEC, Layout(dp=2), os.path.join(folder, "wide"), ["--threads-per-rank", threads])
    for comm in COMMS[:3]:
        said = mtc.call("run", bundle, "--data", data, "--data-type", "u8", "--steps", 1, "--comm", *comm).stderr
        report.expect(said.count(f"note: 2 ranks of {threads} threads each share {threads} core") == 1
                      and said.count("note:") == 1, f"threads without cores over {comm[0]}: found {said!r}")


def main():
    mtc, report = Mtc(), Report()
    library, takes_all = os.path.abspath(sys.argv[2]), "--all" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "tokens")
        corpus.write(data)
        bundles = [mtc.compile(SPEC, layout, os.path.join(folder, layout.name))
                   for layout in LAYOUTS]
        # All ways with one layout, the larger one over hosts.
        ways = COMMS if takes_all else COMMS[:1] + COMMS[2:]
        for bundle, layout, comms in zip(bundles, LAYOUTS, (ways, COMMS[::2])):
            check_bits(mtc, report, bundle, data, folder, layout, comms)
        for victim in (0, 3) if takes_all else (3,):
            check_death(mtc, report, bundles[0], data, folder, victim)
        for dies in (True, False):
            check_abort(mtc, report, bundles[0], data, folder, library, dies)
        check_hang(mtc, report, bundles[0], data, folder)
        check_stop(mtc, report, bundles[0], data, folder)
        other = mtc.compile(SPEC, Layout(tp=2, dp=2), os.path.join(folder, "other"))
        check_differences(mtc, report, bundles[0], other, data)
        check_no_network(mtc, report, bundles[0], data)
        check_team_note(mtc, report, data, folder)
    return report.finish(f"{len(LAYOUTS)} layouts in {len(ways) + 1} ways")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"failed: {failed}")
