"""Random small models and strategies, and an independent opinion on which of them can be."""

from dataclasses import dataclass, field

from layouts import Layout

PLAIN = ("gpipe", "1f1b", "eager-1f1b", "zb-h1")
INTERLEAVED = "interleaved-1f1b"


@dataclass(frozen=True)
class Case:
    """A model, and a strategy for it. `seq` may exceed what the model has, batches and
    lists need not fit: four strategies in ten cannot be."""
    sizes: dict
    layout: Layout
    batch: int
    seq: int
    replicated: tuple = field(default=())  # logical axes that the table does not split

    def options(self):
        return [*self.layout.options(self.batch), "--seq", str(self.seq),
                *(part for axis in self.replicated
                  for part in (f"--shard.{axis}", "none"))]

    @property
    def microbatches(self):
        return self.batch // (self.layout.micro_batch * self.layout.dp)


def random_sizes(random):
    heads = random.choice((2, 3, 4, 6))
    hidden = heads * random.choice((4, 8, 16))
    vocab = random.randint(20, 80)
    return {"name": "random", "vocab": vocab,
            "padded": -(-vocab // 24) * 24 if random.random() < 0.8 else vocab,
            "layers": random.choice((1, 2, 3, 4, 4, 6, 6)), "hidden": hidden, "heads": heads,
            "ffn": random.choice((2, 3, 4)) * hidden, "longest": random.choice((8, 12, 16)),
            "tied": random.random() < 0.5, "norm": random.choice(("layer_norm", "rms_norm")),
            "qkv": random.choice(("fused", "separate")),
            "dropout": random.choice((0.0, 0.1))}


def random_kv_heads(random, sizes, tp):
    """A divisor of the heads, in fused projections mostly one that tp divides."""
    divisors = [n for n in range(1, sizes["heads"] + 1) if sizes["heads"] % n == 0]
    if sizes["qkv"] == "fused" and random.random() < 0.9:
        divisors = [n for n in divisors if n % tp == 0] or divisors
    return random.choice(divisors)


def split_layers(random, layers, parts):
    """Layers of virtual stages, mostly with the right sum."""
    cuts = sorted(random.randint(0, layers) for _ in range(parts - 1))
    if layers >= parts and random.random() < 0.7:
        cuts = sorted(random.sample(range(layers + 1), parts - 1))
    counts = [b - a for a, b in zip([0, *cuts], [*cuts, layers])]
    if random.random() < 0.1:
        counts[0] += 1
    return tuple(counts)


def random_case(random):
    sizes = random_sizes(random)
    tp = random.choice((1, 2, 2, 3, 4))
    if random.random() < 0.7:
        tp = random.choice([n for n in (1, 2, 3, 4) if sizes["heads"] % n == 0])
    sizes["kv_heads"] = random_kv_heads(random, sizes, tp)
    pp = random.choice((1, 1, 2, 2, 3, 4))
    chunks = random.choice((1, 1, 1, 2, 3)) if pp > 1 or random.random() < 0.1 else 1
    schedule = (INTERLEAVED if (chunks > 1) != (random.random() < 0.1)
                else random.choice(PLAIN))
    dp, mbs = random.choice((1, 1, 2, 3)), random.choice((1, 2))
    cp = random.choice((1, 1, 1, 2, 2, 3))
    layers = ()
    if random.random() < 0.6:
        layers = split_layers(random, sizes["layers"], pp * chunks)
    layout = Layout(
        tp=tp, cp=cp, pp=pp, dp=dp, zero=random.randint(0, 2),
        schedule=schedule, micro_batch=mbs, sp=random.random() < 0.4, chunks=chunks,
        layers=layers, group=random.choice((0, 0, 0, 2, 3, 5)) if chunks > 1 else 0,
        recompute=random.choice(("none", "none", "selective", "full", "layers=1", "layers=2",
                                 "ops=attention,norm", "microbatches=1", "microbatches=2")),
        overlap=random.choice(("p2p", "none", "grad-reduce", "p2p,grad-reduce", "param-gather",
                               "p2p,grad-reduce,param-gather")))
    batch = mbs * dp * random.randint(1, 8) + (random.random() < 0.05)
    seq = sizes["longest"] - random.choice((0, 0, 0, 1, 2, 4)) + (random.random() < 0.03)
    replicated = tuple(axis for axis in ("ffn", "vocab") if random.random() < 0.15)
    if random.random() < 0.15:
        replicated += ("heads", "kv-heads") if random.random() < 0.8 else ("heads",)
    return Case(sizes, layout, batch, seq, replicated)


def interleaving_rules(layout, microbatches):
    """`../docs/schedules.md`: groups of microbatches, each at least as many as stages."""
    group = layout.group or layout.pp
    rest = microbatches % group
    yield layout.pp < 2, "interleaving needs two stages"
    yield layout.chunks < 2, "interleaving needs two chunks"
    if layout.chunks >= 2:
        yield group < layout.pp, "a group holds at least one microbatch per stage"
        yield group > microbatches, "a group holds at most all microbatches"
        yield 0 < rest < layout.pp, "the last group is too short"


def stage_rules(case):
    layout, layers = case.layout, case.sizes["layers"]
    stages = layout.pp * layout.chunks
    if layout.layers:
        yield sum(layout.layers) != layers, "the sum of layers_per_stage == layers"
        yield 0 in layout.layers[1:-1], "layers_per_stage[i] >= 1"
        most = max(sum(layout.layers[stage::layout.pp]) for stage in range(layout.pp))
    else:
        yield layers < stages, "layers >= pp"
        yield layers >= stages and layers % stages != 0, "without layers_per_stage"
        most = -(-layers // layout.pp)
    if layout.recompute.startswith("layers="):
        yield int(layout.recompute[7:]) > most, "no more layers than a stage has"


def rules(case):
    """Whether each rule is broken, and words of it."""
    layout, sizes = case.layout, case.sizes
    for axis, key, size in (("heads", "heads %", sizes["heads"]),
                            ("ffn", "ffn %", sizes["ffn"]),
                            ("vocab", "padded_vocab %", sizes["padded"])):
        yield axis not in case.replicated and size % layout.tp != 0, key
    # Ranks that split the heads share those of keys and values of separate projections.
    are_shared = sizes["qkv"] == "separate" and "heads" not in case.replicated
    yield ("kv-heads" not in case.replicated and not are_shared
           and sizes["kv_heads"] % layout.tp != 0), "kv_heads %"
    yield case.batch % (layout.micro_batch * layout.dp) != 0, "global_batch_size %"
    yield "param-gather" in layout.overlap and layout.zero == 0, \
        "zero >= 1 with overlap = param-gather"
    yield from stage_rules(case)
    if layout.recompute.startswith("microbatches="):
        yield (int(layout.recompute[13:]) > case.batch // (layout.micro_batch * layout.dp),
               "no more microbatches than a step has")
    yield case.seq > sizes["longest"], "seq_length <= max_seq"
    yield layout.cp > 1 and case.seq % (2 * layout.cp) != 0, "seq_length % (2 * cp)"
    yield layout.sp and layout.tp > 1 and case.seq % (layout.cp * layout.tp) != 0, \
        "seq_length % tp" if layout.cp == 1 else "seq_length % (cp * tp)"


def broken_rules(case):
    """The words of all rules that a strategy breaks; none: it must train. What a schedule
    wants is looked at once all else is well."""
    broken = [words for is_broken, words in rules(case) if is_broken]
    if broken:
        return broken
    layout = case.layout
    if layout.schedule == INTERLEAVED:
        return [words for is_broken, words in interleaving_rules(layout, case.microbatches)
                if is_broken]
    return ["this schedule has one chunk"] if layout.chunks > 1 else []
