"""Random schedules of a pipeline as people write them, and an independent opinion on which
of them can run. A slot is (phase, microbatch, chunk); a schedule a list of slots for each
stage. Part c of stage r of p is part c * p + r of the model."""

from collections import Counter


def needs(stages, parts, stage, slot):
    """What runs before a slot, as sets of (stage, slot) of which one is enough: a forward
    needs that of the part before, a backward its own forward and the backward of the part
    behind, and a weight gradient the input's."""
    phase, microbatch, chunk = slot
    part = chunk * stages + stage
    if phase == "W":
        return [{(stage, ("I", microbatch, chunk))}]
    if phase == "F":
        if part == 0:
            return []
        return [{((part - 1) % stages, ("F", microbatch, (part - 1) // stages))}]
    own = [{(stage, ("F", microbatch, chunk))}]
    if part == parts - 1:
        return own
    behind = part + 1
    return own + [{(behind % stages, (letter, microbatch, behind // stages)) for letter in "BI"}]


def may_run(done, *where):
    return all(any(each in done for each in one) for one in needs(*where))


def walk(random, stages, microbatches, chunks):
    """A random schedule that runs: slots in any order in which each has what it needs. In
    one of two microbatches ascend; in one of two some chunks put their weight gradients
    off; stages are more or less eager to go back."""
    halves = {(stage, chunk): random.random() < 0.5 for stage in range(stages)
              for chunk in range(chunks)} if random.random() < 0.5 else {}
    ascends, eager = random.random() < 0.5, random.random()
    left = {(stage, (phase, microbatch, chunk))
            for stage in range(stages) for chunk in range(chunks)
            for microbatch in range(microbatches)
            for phase in ("FIW" if halves.get((stage, chunk)) else "FB")}
    lines, done = [[] for _ in range(stages)], set()
    while left:
        ready = sorted(each for each in left if may_run(done, stages, stages * chunks, *each))
        if ascends:  # of a phase and chunk the first one left is next
            ready = [(stage, slot) for stage, slot in ready
                     if not any((stage, (slot[0], before, slot[2])) in left
                                for before in range(slot[1]))]
        back = [each for each in ready if each[1][0] != "F"]
        stage, slot = random.choice(back if back and random.random() < eager else ready)
        left.remove((stage, slot))
        done.add((stage, slot))
        lines[stage].append(slot)
    return lines


def spoiled(random, lines):
    """The same with one change, which may or may not be a fault."""
    lines = [list(line) for line in lines]
    line = random.choice(lines)
    at, other = random.randrange(len(line)), random.randrange(len(line))
    kind = random.choice(("lack", "twice", "swap", "turn", "turn", "halve", "late"))
    if kind == "lack":
        del line[at]
    elif kind == "twice":
        line.insert(other, line[at])
    elif kind == "swap":
        line[at], line[other] = line[other], line[at]
    elif kind == "turn":  # others of the same phase come in another order
        other = random.choice([i for i, slot in enumerate(line) if slot[0] == line[at][0]])
        line[at], line[other] = line[other], line[at]
    elif kind == "late":
        line.append(line.pop(at))
    else:  # one backward in halves, where others may be whole
        line[:] = [part for slot in line for part in
                   ([("I", *slot[1:]), ("W", *slot[1:])]
                    if slot[0] == "B" and slot[1:] == line[at][1:] else [slot])]
    return lines


def text(lines, chunks):
    """A file of it."""
    def word(slot):
        phase, microbatch, chunk = slot
        return f"{phase}{microbatch}" + (f".{chunk}" if chunks > 1 else "")
    return "".join(" ".join(map(word, line)) + "\n" for line in lines)


def cell_faults(line, microbatch, chunk):
    """Of the slots of a microbatch in a chunk of a stage: all are there, once, in order."""
    count = Counter(phase for phase, *cell in line if cell == [microbatch, chunk])
    if any(n > 1 for n in count.values()):
        yield "expected once"
    if not count["F"]:
        yield "no F"
    if count["B"] and (count["I"] or count["W"]):
        yield "both B and I/W"
    elif not count["B"] and not count["I"] and not count["W"]:
        yield "no backward"
    elif bool(count["I"]) != bool(count["W"]):
        yield "no W" if count["I"] else "no I"
    first = {phase: line.index((phase, microbatch, chunk)) for phase in count if count[phase]}
    for before, behind in ("FB", "FI", "IW"):
        if before in first and behind in first and first[before] > first[behind]:
            yield "expected before it"


def ends(lines, parts):
    """Whether stages that each run their slots in order all come to their ends."""
    done, at, moves = set(), [0] * len(lines), True
    while moves:
        moves = False
        for stage, line in enumerate(lines):
            while at[stage] < len(line) and may_run(done, len(lines), parts, stage,
                                                    line[at[stage]]):
                done.add((stage, line[at[stage]]))
                at[stage] += 1
                moves = True
    return all(at[stage] == len(line) for stage, line in enumerate(lines))


def faults(lines, microbatches, chunks):
    """Words of all that is wrong with a schedule; none: it runs."""
    found = {fault for line in lines for microbatch in range(microbatches)
             for chunk in range(chunks) for fault in cell_faults(line, microbatch, chunk)}
    if not found and not ends(lines, len(lines) * chunks):
        found.add("stages wait for each other")
    for line in lines:
        kinds = {(phase == "B", chunk) for phase, _, chunk in line if phase != "F"}
        if any((not whole, chunk) in kinds for whole, chunk in kinds):
            found.add("found both")  # in a chunk of a stage
    return sorted(found)
