"""A covering array: few layouts in which every pair of choices meets that can meet."""

import itertools
import random

from layouts import GLOBAL_BATCH, Layout
from precision import SUMS

# What a person chooses, model and type among it. The schedules are all that compile.
FACTORS = {
    "tp": (1, 2, 4),
    "sp": (False, True),
    "cp": (1, 2),
    "pp": (1, 2, 3, 4),
    "chunks": (1, 2),
    "schedule": ("gpipe", "1f1b", "eager-1f1b", "interleaved-1f1b", "zb-h1"),
    "dp": (1, 2),
    "zero": (0, 1, 2),
    "order": ("tp-cp-dp-pp", "tp-cp-pp-dp"),
    "recompute": ("none", "selective", "full", "layers=1", "microbatches=1",
                  "ops=norm,pointwise"),
    "saved": ("whole", "parts"),
    "overlap": ("p2p", "none", "p2p,grad-reduce", "p2p,grad-reduce,param-gather"),
    "comm_thread": (False, True),
    "prepack": ("never", "always"),
    "stages": ("even", "uneven"),
    "tied": (True, False),
    "qkv": ("fused", "separate"),
    "kv_heads": (4, 2, 1),
    "norm": ("layer_norm", "rms_norm"),
    "dtype": ("f32", "bf16", SUMS, "fp16"),
}

# Layers of virtual stages where they are uneven, of a model of four layers: one stage
# has the head or the embedding alone.
UNEVEN = {2: (1, 3), 3: (1, 2, 1), 4: (0, 2, 1, 1), 6: (0, 1, 1, 1, 1, 0)}

MOST_RANKS = 8

# What cannot be: what a sentence says, the choices that it is about, and whether
# they may meet.
RULES = (
    (f"at most {MOST_RANKS} ranks", ("tp", "cp", "pp", "dp"),
     lambda tp, cp, pp, dp: tp * cp * pp * dp <= MOST_RANKS),
    ("sequence parallelism splits over tp", ("sp", "tp"), lambda sp, tp: not sp or tp > 1),
    ("several stages have chunks", ("chunks", "pp"),
     lambda chunks, pp: chunks == 1 or pp > 1),
    ("interleaving is of chunks, and all else is not", ("schedule", "chunks"),
     lambda schedule, chunks: (schedule == "interleaved-1f1b") == (chunks > 1)),
    ("one stage has one schedule", ("schedule", "pp"),
     lambda schedule, pp: pp > 1 or schedule == "1f1b"),
    ("ZeRO shards over dp", ("zero", "dp"), lambda zero, dp: zero == 0 or dp > 1),
    ("ranks count through stages first where there are replicas beside them",
     ("order", "pp", "dp"),
     lambda order, pp, dp: order == "tp-cp-dp-pp" or (pp > 1 and dp > 1)),
    ("what ranks along tp all have is saved in parts where something is computed again",
     ("saved", "tp", "sp", "recompute"),
     lambda saved, tp, sp, recompute: saved == "whole" or (
         tp > 1 and not sp and recompute != "none")),
    ("one rank has no collectives", ("comm_thread", "tp", "cp", "pp", "dp"),
     lambda comm_thread, tp, cp, pp, dp: not comm_thread or tp * cp * pp * dp > 1),
    ("one stage sends nothing", ("overlap", "pp"),
     lambda overlap, pp: pp > 1 or overlap != "none"),
    ("ranks that share no gradients sum nothing", ("overlap", "dp", "cp"),
     lambda overlap, dp, cp: dp * cp > 1 or "grad-reduce" not in overlap),
    ("replicas gather what ZeRO split", ("overlap", "zero"),
     lambda overlap, zero: zero > 0 or "param-gather" not in overlap),
    ("one stage has all layers", ("stages", "pp"),
     lambda stages, pp: pp > 1 or stages == "even"),
    ("even stages divide four layers", ("stages", "pp", "chunks"),
     lambda stages, pp, chunks: stages == "uneven" or 4 % (pp * chunks) == 0),
    ("all but the first and the last virtual stage have a layer",
     ("pp", "chunks"), lambda pp, chunks: pp * chunks <= 6),
)


def allowed(choice):
    """Whether no rule speaks against choices, of which some may lack."""
    return all(test(*(choice[name] for name in names))
               for _, names, test in RULES if all(name in choice for name in names))


def complete(choice, order):
    """The choices with values for all factors, in the order that `order(name)` gives them
    in; None if there are none."""
    open_names = [name for name in FACTORS if name not in choice]
    if not open_names:
        return choice
    for value in order(choice, open_names[0]):
        tried = {**choice, open_names[0]: value}
        if allowed(tried):
            found = complete(tried, order)
            if found:
                return found
    return None


def pairs_of(choice):
    return {frozenset(pair) for pair in itertools.combinations(choice.items(), 2)}


def all_pairs():
    """Every pair of values of two factors, in one order."""
    return [frozenset([(a, x), (b, y)]) for a, b in itertools.combinations(FACTORS, 2)
            for x in FACTORS[a] for y in FACTORS[b]]


def covering(seed=4):
    """Rows of choices, and the pairs that no row can have. Greedy: each row begins with a
    pair that none has, and takes values that bring most new ones."""
    shuffled = random.Random(seed)
    missing, impossible, rows = dict.fromkeys(all_pairs()), [], []
    while missing:
        first = next(iter(missing))

        def order(choice, name):
            values = list(FACTORS[name])
            shuffled.shuffle(values)
            gain = {value: sum(frozenset([(name, value), item]) in missing
                               for item in choice.items()) for value in values}
            return sorted(values, key=gain.__getitem__, reverse=True)
        start = dict(sorted(first, key=lambda item: list(FACTORS).index(item[0])))
        row = complete(start, order) if allowed(start) else None
        if row is None:
            impossible.append(first)
            del missing[first]
            continue
        rows.append({name: row[name] for name in FACTORS})
        for pair in pairs_of(row):
            missing.pop(pair, None)
    return rows, impossible


def group_of(row):
    """Microbatches that go through a chunk in turn: as many as there are stages (0) or, where
    a rest would be too short, the next more that divide those of a step."""
    microbatches = GLOBAL_BATCH // (Layout().micro_batch * row["dp"])
    if row["chunks"] == 1 or microbatches % row["pp"] == 0:
        return 0
    return next(group for group in range(row["pp"], microbatches + 1)
                if microbatches % group == 0)


def layout_of(row):
    layers = ()
    if row["stages"] == "uneven":
        layers = UNEVEN[row["pp"] * row["chunks"]]
    same = ("tp", "cp", "pp", "dp", "zero", "order", "schedule", "sp", "chunks", "recompute",
            "overlap", "comm_thread", "prepack")
    return Layout(layers=layers, group=group_of(row), distribute=row["saved"] == "parts",
                  **{name: row[name] for name in same})


def plain(layout):
    """The simplest layout that must have the same bits (N4): one stage, nothing computed
    again, nothing sharded but gradients, whose sums ZeRO-2 adds in another order."""
    return Layout(tp=layout.tp, cp=layout.cp, dp=layout.dp, sp=layout.sp,
                  zero=layout.zero if layout.zero == 2 else 0,
                  micro_batch=layout.micro_batch)
