"""Orders in which a device may run a plan of two streams, each as a plan of one.

A cpu rank with a thread of collectives is one device of two streams; its order is chance.
What a device may do with them is known, though: each stream runs its ops in order, a wait holds its stream until the event's last record before
it has run, and nothing else is promised. Two orders are the worst: compute runs ahead of
collectives as far as waits allow, or collectives ahead of compute. If verify-plan is
right, both give the bits of the plan of one stream; what an event forgets shows in one of
them. The fragments in these orders run on the cpu, without events and unverified: bits
are the judge here.

Each fragment runs to its end before the next row begins, as assign-streams makes them. What a
collective that outlives its fragment does to a later row does not show here: such work is
judged by verify-plan alone.
"""

import re

ORDERS = {"compute ahead": (0, 1), "collectives ahead": (1, 0)}

# Those of the tensor form stand deeper: nobody runs them, and what they say of streams is
# not read.
FRAGMENT = re.compile(r"^    func\.func .*#pipe\.fragment<")
EVENT = re.compile(r"rt\.(record|wait) event (\d+) stream (\d+)")
STREAM = re.compile(r",? ?stream = (\d+) : i64")


class Stuck(Exception):
    """Something does not end."""


class Op:
    """A line of a fragment: its stream, and what it does with which event."""

    def __init__(self, line):
        self.line = line
        event = EVENT.search(line)
        self.action, self.event = (event[1], event[2]) if event else (None, None)
        stream = STREAM.search(line)
        self.stream = int(event[3] if event else stream[1] if stream else 0)
        self.waits_for = None  # the record, by its place in the fragment

    @property
    def is_address(self):
        """Addresses touch no memory: in the form with bytes they alone have results."""
        return self.line.lstrip().startswith("%")

    def text(self):
        return STREAM.sub("", self.line).replace("{, ", "{")


def streams_of(lines):
    """Addresses, and per stream its ops in order, each wait with its record."""
    addresses, queues, recorded = [], ([], []), {}
    for place, line in enumerate(lines):
        op = Op(line)
        if op.is_address:
            addresses.append(line)
            continue
        if op.action == "record":
            recorded[op.event] = op.waits_for = place
        elif op.action == "wait":
            op.waits_for = recorded.get(op.event)
        queues[op.stream].append(op)
    return addresses, queues


def run_ahead(queues, first):
    """The ops in the order of a device that prefers streams in the order `first`."""
    at, done, order = [0, 0], set(), []

    def ready(stream):
        if at[stream] == len(queues[stream]):
            return False
        op = queues[stream][at[stream]]
        return op.action != "wait" or op.waits_for is None or op.waits_for in done

    while True:
        stream = next((s for s in first if ready(s)), None)
        if stream is None:
            if any(at[s] < len(queues[s]) for s in first):
                raise Stuck("each stream waits for an event of the other")
            return order
        op = queues[stream][at[stream]]
        at[stream] += 1
        if op.action == "record":
            done.add(op.waits_for)
        elif op.action is None:
            order.append(op.text())


def in_order(text, first):
    """The module with every fragment in one order, for the cpu."""
    out, body = [], None
    for line in text.split("\n"):
        if body is None:
            out.append(line)
            if FRAGMENT.search(line):
                body = []
        elif line.strip().startswith("return"):
            addresses, queues = streams_of(body)
            out += addresses + run_ahead(queues, first) + [line]
            body = None
        else:
            body.append(line)
    return re.sub(r"\bstreams = 2\b", "streams = 1", "\n".join(out), count=1)


def orders(text):
    """By name, the texts to run for a plan of two streams."""
    return {name: in_order(text, first) for name, first in ORDERS.items()}
