"""Runs that are killed, stopped or interrupted."""

import os
import signal

from bad_case import PARTS, Broken, Case, install, wait_until
from frozen_run import rank_of

INTERRUPTED, PEER_DIED, HANG = 11, 12, 13
LOG, SAVED = "log.jsonl", "out.safetensors"
SLOW = "libmtc_comm.a"
LONG = ["run", "two", "--data", "data.bin", "--data-type", "u8", "--steps", 10 ** 7,
        "--quiet", "--log", LOG, "--save", SAVED]
THREADS = [*LONG, "--comm", "threads"]


def steps(place):
    """Whole lines of the log."""
    if not os.path.exists(place.path(LOG)):
        return 0
    return place.read(LOG).count(b"\n")


def rank(place, number):
    for pid in place.processes():
        if rank_of(pid) == number:
            return pid
    raise Broken(f"no process is rank {number}")


def during(*actions):
    """Runs until step 2 is in the log, then does action(place, process) each."""
    def act(place, command):
        process = place.start(command)
        if not wait_until(lambda: steps(place) >= 2 or process.poll() is not None, 60):
            raise Broken("no step 2")
        for action in actions:
            action(place, process)
        return place.end(process)
    return act


def signal_rank(number, *signals):
    def action(place, _):
        pid = rank(place, number)
        for each in signals:
            os.kill(pid, each)
    return action


def signal_group(number):
    """What a terminal does at Ctrl-C: the launcher and all ranks."""
    return lambda _, process: os.killpg(process.pid, number)


def signal_launcher(number):
    return lambda _, process: process.send_signal(number)


def interrupt_often(_, process):
    """As a person would who sees that the first Ctrl-C is not enough. Signals that
    come too close are one."""
    for _ in range(100):
        process.send_signal(signal.SIGINT)
        if wait_until(lambda: process.poll() is not None, 0.3):
            return


def one_step_more(place, _):
    before = steps(place)
    if not wait_until(lambda: steps(place) > before):
        raise Broken(f"no step after {before}")


def slow_link(place):
    """One of the files to link with is a pipe that nobody writes to."""
    install(place, lambda name: None if name == SLOW else os.symlink)
    os.mkfifo(place.path("installed/lib/mtc/link", SLOW))


def while_linking(*actions):
    def act(place, command):
        process = place.start(command)
        pipe = wait_until(lambda: open_to_write(
            place.path("installed/lib/mtc/link", SLOW)), 60)
        if pipe is None:
            raise Broken("no linking")
        try:
            for action in actions:
                action(place, process)
            return place.end(process)
        finally:
            os.close(pipe)
    return act


def open_to_write(pipe):
    """None as long as nobody reads it."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


def signal_helper(number):
    """The process of mtc that links: the one that reads the pipe."""
    def action(place, process):
        helpers = [pid for pid in place.processes() if pid != process.pid]
        reading = wait_until(lambda: [pid for pid in helpers if opens(pid, SLOW)])
        if not reading:
            raise Broken("nobody reads the pipe")
        os.kill(reading[0], number)
    return action


def opens(pid, name):
    """Whether a process has opened a file of this name."""
    folder = f"/proc/{pid}/fd"
    try:
        return any(os.readlink(os.path.join(folder, fd)).endswith("/" + name)
                   for fd in os.listdir(folder))
    except OSError:
        return False  # it ended


def case(name, code, says, *actions, command=LONG):
    """Ends in order: parameters are saved; which ones, test_ends.py looks at."""
    return Case(name, command, code, says, act=during(*actions), leaves=(LOG, SAVED))


def killed(name, code, says, *actions, command=LONG, leaves=(LOG,)):
    """Whatever ends a rank, no file is half there."""
    return Case(name, command, code, says, act=during(*actions), leaves=leaves)


def compile_case(name, code, says, *actions, leaves=()):
    return Case(name, ["compile", "tiny.toml", "--gbs", 2, "-o", "out"], code, says,
                slow_link, act=while_linking(*actions), leaves=leaves)


RUNS = [
    killed("killed: a rank", PEER_DIED, ["rank 1", "killed by signal 9", "in step "],
         signal_rank(1, signal.SIGKILL)),
    killed("killed: the rank that logs", PEER_DIED,
         ["rank 2", "killed by signal 9", "in step "], signal_rank(2, signal.SIGKILL)),
    killed("killed: a rank by a fault", PEER_DIED,
         ["rank 3", "killed by signal 11", "in step "],
         signal_rank(3, signal.SIGSEGV)),
    # Nobody removes the name of its lock, which ended with it.
    killed("killed: the launcher", -signal.SIGKILL, [], signal_launcher(signal.SIGKILL),
           leaves=(LOG, SAVED + ".lock", SAVED + PARTS)),
    killed("stopped: a rank, with a time limit", HANG,
         ["no step", "6 seconds", "--timeout", "rank 1", "stopped"],
         signal_rank(1, signal.SIGSTOP), command=[*LONG, "--timeout", 6]),
    killed("stopped: a rank, then an interruption and another one", INTERRUPTED,
         ["stopped by a signal"], signal_rank(0, signal.SIGSTOP), interrupt_often),
    case("stopped: a rank that goes on", INTERRUPTED, ["stopped by a signal"],
         signal_rank(1, signal.SIGSTOP, signal.SIGCONT), one_step_more,
         signal_launcher(signal.SIGTERM)),
    case("interrupted: Ctrl-C", INTERRUPTED, ["stopped by a signal"],
         signal_group(signal.SIGINT)),
    case("interrupted: the launcher only", INTERRUPTED, ["stopped by a signal"],
         signal_launcher(signal.SIGINT)),
    case("interrupted: SIGTERM", INTERRUPTED, ["stopped by a signal"],
         signal_launcher(signal.SIGTERM)),
    case("interrupted: SIGTERM to all", INTERRUPTED, ["stopped by a signal"],
         signal_group(signal.SIGTERM)),
    case("interrupted: the terminal is gone", INTERRUPTED, ["stopped by a signal"],
         signal_group(signal.SIGHUP)),
    case("interrupted: threads, Ctrl-C", INTERRUPTED, ["stopped by a signal"],
         signal_group(signal.SIGINT), command=THREADS),
    case("interrupted: threads, SIGTERM", INTERRUPTED, ["stopped by a signal"],
         signal_launcher(signal.SIGTERM), command=THREADS),
    case("a loss that is not finite", 15, ["step ", "not finite", "parameters"],
         command=[*LONG, "--lr", 1e5, "--min-lr", 1e5, "--clip", 0]),
    case("a loss that is not finite, threads", 15, ["step ", "not finite"],
         command=[*THREADS, "--lr", 1e5, "--min-lr", 1e5, "--clip", 0]),
]

COMPILES = [
    compile_case("compile interrupted: Ctrl-C", INTERRUPTED, ["stopped by a signal"],
                 signal_group(signal.SIGINT)),
    compile_case("compile interrupted: SIGTERM", INTERRUPTED, ["stopped by a signal"],
                 signal_launcher(signal.SIGTERM)),
    compile_case("compile: the process that links is killed", 1,
                 ["linking failed", "ended by signal 9"], signal_helper(signal.SIGKILL)),
    # The next compilation to this place removes the folder, and in it what was being linked.
    compile_case("compile killed while linking", -signal.SIGKILL, [],
                 signal_launcher(signal.SIGKILL),
                 leaves=("out.tmp-*", "out.tmp-*/*.tmp*")),
]

CASES = RUNS + COMPILES
