"""Ranks of one test at a time: each has a thread, and a machine has few cores.

Tests run beside each other (`ctest --parallel`). What they compile and compare may overlap,
the ranks that they start may not: who starts some waits for the lock. ctest says which file it
is; a test whose ranks are started in other ways has it for all of its time, by `flock`, and is
told of none.
"""

import contextlib
import fcntl
import os


@contextlib.contextmanager
def one_at_a_time():
    path = os.environ.get("MTC_RANKS_LOCK")
    if not path:
        yield
        return
    with open(path, "a") as file:  # nobody inherits it
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
