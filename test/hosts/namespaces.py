"""Network namespaces as hosts: four ranks on two of them, with a network between.

They train to the bits of shm over TCP alone, and when the network is cut, each side names
a rank of the other within the heartbeats' time. Not a ctest: it needs root and iproute2.

usage: namespaces.py BIN_DIR
"""

import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
import corpus  # noqa: E402
from layouts import Layout  # noqa: E402
from run_layout import Failed, Mtc, Report, read_log  # noqa: E402

HOSTS = ("mtc-a", "mtc-b")
ADDRESS = {"mtc-a": "10.77.0.1", "mtc-b": "10.77.0.2"}
HEARTBEAT = 3  # seconds without a sign of life


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def wait_for_link(host):
    """The kernel says a moment later that a cable is up, and UCX passes over a device whose
    cable is not."""
    end = time.monotonic() + 10
    command = ["ip", "-n", host, "link", "show", "eth0"]
    while "state UP" not in subprocess.run(command, capture_output=True, text=True).stdout:
        if time.monotonic() > end:
            raise Failed(f"{host}: eth0 does not come up")
        time.sleep(0.1)


class Network:
    """Two namespaces and a cable."""

    def __enter__(self):
        self.__exit__()
        for host in HOSTS:
            ip("netns", "add", host)
            ip("-n", host, "link", "set", "lo", "up")
        ip("-n", HOSTS[0], "link", "add", "eth0", "type", "veth", "peer", "name", "eth0",
           "netns", HOSTS[1])
        for host in HOSTS:
            ip("-n", host, "address", "add", ADDRESS[host] + "/24", "dev", "eth0")
            ip("-n", host, "link", "set", "eth0", "up")
        for host in HOSTS:
            wait_for_link(host)
        return self

    def cut(self):
        ip("-n", HOSTS[0], "link", "set", "eth0", "down")

    def __exit__(self, *_):
        for host in HOSTS:
            subprocess.run(["ip", "netns", "delete", host], stderr=subprocess.DEVNULL)


def start(mtc, bundle, ranks, arguments):
    """Half of the ranks on each host, each with its own name, over TCP alone."""
    environment = dict(os.environ, MTC_JOB_SECRET="of a test", UCX_TLS="tcp,self",
                       UCX_NET_DEVICES="eth0")
    processes = []
    for rank in range(ranks):
        host = HOSTS[rank * len(HOSTS) // ranks]
        command = ["ip", "netns", "exec", host, "unshare", "--uts", "sh", "-c",
                   f"hostname {host} && exec \"$@\"", "sh", mtc.program, "run", bundle,
                   "--quiet", "--rank", rank, "--world", ranks, "--master",
                   ADDRESS[HOSTS[0]] + ":4000", "--rdzv-timeout", 30,
                   "--heartbeat-timeout", HEARTBEAT, *arguments]
        processes.append(subprocess.Popen(list(map(str, command)), env=environment,
                                          text=True, stderr=subprocess.PIPE))
    return processes


def ended(process, processes, seconds):
    """What a rank said until its end. All are killed when that does not come."""
    try:
        return process.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        for each in processes:
            each.kill()
        raise Failed(f"a rank does not end within {seconds} s") from None


def numbers(log):
    return [(r["step"], r["loss"], r["grad_norm"]) for r in log]


def check_bits(mtc, report, bundle, recipe, folder):
    log = os.path.join(folder, "hosts.jsonl")
    processes = start(mtc, bundle, 4, [*recipe, "--steps", 4, "--log", log])
    for rank, process in enumerate(processes):
        error = ended(process, processes, 120)
        report.expect(process.returncode == 0, f"rank {rank}: {error}")
    alone = mtc.run(bundle, [*recipe, "--steps", 4], os.path.join(folder, "shm"))
    report.expect(numbers(read_log(log)) == numbers(alone),
                  "two hosts have other bits than shm")
    print("  two hosts have the bits of shm", flush=True)


def check_cut(mtc, report, network, bundle, recipe, folder):
    log = os.path.join(folder, "cut.jsonl")
    processes = start(mtc, bundle, 4, [*recipe, "--steps", 10 ** 6, "--log", log])
    end = time.monotonic() + 60
    while not (os.path.exists(log) and len(read_log(log)) >= 2):
        if time.monotonic() > end:
            raise Failed("no step 2")
        time.sleep(0.05)
    network.cut()
    began = time.monotonic()
    for rank, process in enumerate(processes):
        error = ended(process, processes, 60)
        spent = time.monotonic() - began
        others = HOSTS[1 - rank * len(HOSTS) // 4]
        pattern = rf"rank [23] on {others} was not heard" if rank < 2 else "rank 0 was not heard"
        report.expect(process.returncode == 12 and re.search(pattern, error),
                      f"cut, rank {rank}: {process.returncode}, {error}")
        report.expect(spent < HEARTBEAT + 3, f"cut, rank {rank}: {spent:.1f} s")
    print(f"  the network is cut: all end after {time.monotonic() - began:.1f} s, "
          f"with heartbeats of {HEARTBEAT} s", flush=True)


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder, Network() as network:
        data = os.path.join(folder, "tokens")
        corpus.write(data)
        bundle = mtc.compile("gpt2-nano", Layout(tp=2, pp=2), os.path.join(folder, "b"))
        recipe = ["--data", data, "--data-type", "u8", "--lr", 1e-3]
        check_bits(mtc, report, bundle, recipe, folder)
        check_cut(mtc, report, network, bundle, recipe, folder)
    return report.finish("two hosts")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"failed: {failed}")
