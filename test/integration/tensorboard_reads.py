#!/usr/bin/env python3
"""TensorBoard's own reader reads what a run wrote. By hand: it needs the package tensorboard
from PyPI, of which the tests know nothing.

usage: tensorboard_reads.py EVENTS_FOLDER LOG
"""

import argparse
import json
import sys
import warnings

warnings.filterwarnings("ignore")


def check_events(folder, log):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    accumulator = EventAccumulator(folder, purge_orphaned_data=True)
    accumulator.Reload()
    with open(log) as file:
        rows = [row for row in map(json.loads, file) if "header" not in row]
    wanted = {}
    for row in rows:  # a step that comes again replaces the one before
        wanted[row["step"]] = row["loss"]
    found = {event.step: event.value for event in accumulator.Scalars("train/loss")}
    assert found.keys() == wanted.keys(), (sorted(found), sorted(wanted))
    worst = max(abs(found[step] - wanted[step]) for step in wanted)
    assert worst < 1e-6, worst
    tags = accumulator.Tags()
    print(f"tensorboard: {len(found)} steps, tags {', '.join(tags['scalars'])}; texts "
          f"{', '.join(tags['tensors'])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("events")
    parser.add_argument("log")
    options = parser.parse_args()
    check_events(options.events, options.log)
    return 0


if __name__ == "__main__":
    sys.exit(main())
