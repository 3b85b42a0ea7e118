"""Ranks that mpirun (Open MPI) and mpiexec (MPICH) start: the bits of shm, deaths, and who does
not fit.

The library is that of the launcher. A rank that is killed is named by others; one that ends
before all have begun does not leave the others waiting; a launcher and a library that do not
belong together are an error, and no run of single ranks.

usage: test_launchers.py BIN_DIR [--openmpi MPIRUN] [--mpich MPIEXEC]
"""

import argparse
import atexit
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import corpus
from layouts import Layout
from run_layout import Failed, Mtc, Report, read_log
from small_spec import small_spec
from test_hosts import DUMPS, PEER_DIED, USAGE, found, saves, wait_for_steps

SIZES = {"name": "small", "vocab": 250, "padded": 256, "layers": 2, "hidden": 16, "heads": 2,
         "ffn": 16, "longest": 16, "norm": "layer_norm", "dropout": 0.1, "qkv": "fused"}
RANKS, LAYOUT = 4, Layout(tp=2, pp=2)
WAYS = ((), ("--mpi-inside-hosts",))

STARTED_WITHIN = 2  # seconds, where a rank is missing
ENDS_WITHIN = 10  # far above what is expected, and far below the 600 s of --rdzv-timeout
RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK")
# More ranks than cores, as any user; of its launcher, not of mtc.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
# Rank 2 is the first of its two arguments, the others are the second.
ONE_IS_OTHER = ('case "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" in 2) eval "$1" ;; *) eval "$2" ;; esac')


class Launcher:
    def __init__(self, mtc, name, program):
        self.mtc, self.name, self.program = mtc, name, program
        self.environment = dict(os.environ, **OPEN_MPI)

    def start(self, ranks, *command):
        # Without a folder: of one mpirun makes a prefix on all hosts, and "/bin" gives none.
        process = subprocess.Popen([os.path.basename(self.program), "-n", str(ranks),
                                    *map(str, command)], executable=self.program,
                                   env=self.environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        atexit.register(process.terminate)  # which ends its ranks
        return process

    def end(self, process):
        """Exit code and standard error."""
        try:
            error = process.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            process.terminate()
            raise Failed(f"{self.name} did not end: {process.communicate()[1]}")
        return process.returncode, error

    def run(self, ranks, *arguments):
        return self.end(self.start(ranks, self.mtc.program, "run", *arguments))


def of_process(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def process_of(mtc, job, rank):
    """Launchers put ranks into sessions of their own: they are known by their environment,
    and by the log that they write."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        arguments = of_process(pid, "cmdline").split(b"\0")
        words = of_process(pid, "environ").split(b"\0")
        if (arguments[0] == mtc.program.encode() and job.encode() in arguments
                and any(f"{name}={rank}".encode() in words for name in RANK_VARIABLES)):
            return int(pid)
    raise Failed(f"no process is rank {rank}")


def train(data, steps):
    return ["--data", data, "--data-type", "u8", "--lr", "1e-3", "--steps", str(steps), "--quiet"]


def check_bits(launcher, report, bundle, data, folder, expected, options):
    place = os.path.join(folder, launcher.name + "".join(options))
    os.mkdir(place)
    log = os.path.join(place, "log.jsonl")
    dumps = [word for what in DUMPS for word in ("--dump", what, place)]
    code, error = launcher.run(RANKS, bundle, *train(data, 2), "--log", log, *dumps, *saves(place),
                               *options)
    name = " ".join((launcher.name, *options))
    if report.expect(code == 0, f"{name}: {code}, {error}"):
        report.expect(found(read_log(log), place) == expected, f"{name}: other bits than shm")
        print(f"  {name}: equal to shm", flush=True)


def check_death(launcher, report, bundle, data, folder):
    """mpirun ends with the victim's signal, or with a survivor's code if it saw that first."""
    log, records = (os.path.join(folder, f"{launcher.name}-{name}") for name in ("death", "lost"))
    process = launcher.start(RANKS, launcher.mtc.program, "run", bundle, *train(data, 10 ** 6),
                             "--log", log, "--flight", records)
    wait_for_steps(log, 2, [process])
    os.kill(process_of(launcher.mtc, log, 2), signal.SIGKILL)
    code, error = launcher.end(process)
    report.expect(code in (128 + signal.SIGKILL, PEER_DIED) and
                  re.search(r"error: rank 2 died", error) and "stopped by" not in error,
                  f"{launcher.name}, rank 2 was killed: {code}, {error}")
    culprit = json.loads(launcher.mtc.call("flight", records, "--json").stdout)["culprit"]
    report.expect(culprit == 2, f"{launcher.name}: mtc flight blames {culprit}")
    print(f"  {launcher.name}: rank 2 is killed, and named", flush=True)


def check_begin(launcher, report, bundle, data):
    """Rank 2 has no bundle, or ends before it is a rank at all."""
    run = f"exec '{launcher.mtc.program}' run '{{}}' --rdzv-timeout {STARTED_WITHIN} " + " ".join(
        train(f"'{data}'", 1))
    for other, expected in ((run.format(bundle + ".none"), "cannot read .*none/manifest.json"),
                            ("exit 3", f"did not begin within {STARTED_WITHIN} s: it waits for "
                                       "all 4 ranks|Primary job  terminated")):
        begin = time.monotonic()
        code, error = launcher.end(launcher.start(RANKS, "sh", "-c", ONE_IS_OTHER, "sh", other,
                                                  run.format(bundle)))
        seconds = time.monotonic() - begin
        report.expect(code != 0 and re.search(expected, error) and seconds < ENDS_WITHIN,
                      f"{launcher.name}, rank 2 is '{other}': {code} after {seconds:.1f} s, {error}")
    print(f"  {launcher.name}: a rank that does not begin ends all", flush=True)


def check_misfits(launcher, report, bundle, data):
    other, expected = {
        "openmpi": ("mpich", "Open MPI does not say where rank 0 is: .*; or --mpi openmpi, which "
                             "it starts, in place of mpich"),
        "mpich": ("openmpi", "Open MPI starts its own library only: expected its mpirun"),
    }[launcher.name]
    code, error = launcher.run(RANKS, bundle, *train(data, 1), "--mpi", other)
    report.expect(code != 0 and re.search(expected, error),
                  f"{launcher.name} with --mpi {other}: {code}, {error}")
    code, error = launcher.run(2, bundle, *train(data, 1))
    report.expect(code != 0 and re.search("started 2 ranks, and the bundle .* is compiled for 4",
                                          error), f"{launcher.name}, 2 of 4 ranks: {code}, {error}")
    print(f"  {launcher.name}: with --mpi {other}, and with other ranks: rejected", flush=True)


def check_strangers(mtc, report, bundle, data):
    """Words of a launcher whose library finds no others: each would be a world of one."""
    for words, expected in (
            ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"},
             "Open MPI says that this is rank 0 of 1, Open MPI that it is rank 1 of 4"),
            ({"PMIX_RANK": "0"}, "does not say of how many")):
        done = subprocess.run([mtc.program, "run", bundle, *train(data, 1)], text=True,
                              env=dict(os.environ, **OPEN_MPI, **words), capture_output=True)
        report.expect(done.returncode == USAGE and expected in done.stderr,
                      f"{words}: {done.returncode}, {done.stderr}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    for name in ("openmpi", "mpich"):
        parser.add_argument("--" + name)
    options = parser.parse_args()
    mtc, report = Mtc(), Report()
    launchers = [Launcher(mtc, name, getattr(options, name)) for name in ("openmpi", "mpich")
                 if getattr(options, name)]
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "tokens")
        corpus.write(data)
        spec, place = os.path.join(folder, "spec.toml"), os.path.join(folder, "shm")
        with open(spec, "w") as file:
            file.write(small_spec(tied=True, **SIZES))
        bundle = mtc.compile(spec, LAYOUT, os.path.join(folder, "bundle"))
        shm = found(mtc.run(bundle, train(data, 2), place, dumps=DUMPS, extra=saves(place)), place)
        report.expect(len(shm[0]) == 2 and len(shm[1]) == 5, "two steps and five files")
        for launcher in launchers:
            for way in WAYS:
                check_bits(launcher, report, bundle, data, folder, shm, way)
            check_begin(launcher, report, bundle, data)
            check_misfits(launcher, report, bundle, data)
            if launcher.name == "openmpi":  # the other one kills all before they can say more
                check_death(launcher, report, bundle, data, folder)
                check_strangers(mtc, report, bundle, data)
    return report.finish(f"{len(launchers)} launchers")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"failed: {failed}")
