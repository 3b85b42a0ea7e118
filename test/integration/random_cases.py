"""Random small models and strategies: all choices that there are, drawn together."""

import math
from dataclasses import dataclass, field, replace

import precision
import random_schedules
from layouts import Layout
from random_rules import breaks_schedule, broken_rules

PLAIN = ("gpipe", "1f1b", "eager-1f1b", "zb-h1")
INTERLEAVED = "interleaved-1f1b"
OWN = "own"  # a schedule of the case itself
FAMILIES = ("attention", "dropout", "einsum", "norm", "pointwise")
OPTIMIZERS = ("adamw", "adamw", "adam_l2", "sgd", "nesterov", "lion")
DOCUMENTS = ("reset-positions", "reset-attention", "mask-document-ends", "loss-per-token")
KINDS = ("p2p", "grad-reduce", "param-gather")
MOST_RANKS = 12
TRIES = 50
FFN_OVER_DP = 'shard = { ffn = "dp" }'
HEADS_OVER_DP = 'shard = { heads = "dp", kv_heads = "dp" }'
# Tables of a strategy's file.
OVERRIDES = (
    ('layers.*.mlp.*', FFN_OVER_DP),
    ('layers.*.attn.*', HEADS_OVER_DP),
    ('layers.0.*', FFN_OVER_DP),
    ('layers.*.mlp.*', 'shard = { ffn = "none" }'),
    ('layers.0.*', 'shard = { heads = "none", kv_heads = "none" }'),
    ('layers.*.mlp.up.*', 'gather_output = true'),
    ('embed.tokens', 'shard = { vocab = "none" }'),
)
F32 = ("*norm*", "embed.*", "*.bias", "layers.0.*", "*.mlp.down.*", "*")


@dataclass(frozen=True)
class Case:
    """A model, and a strategy for it. Nothing need fit. `layout` says what the other tests
    vary, but for the stages; if its schedule is OWN it is `lines`."""
    sizes: dict
    layout: Layout
    batches: tuple             # samples of steps, the most first
    lengths: tuple             # tokens of samples
    stages: str = "even"       # how layers are given: also list, layout, balanced, ends
    counts: tuple = ()         # of each virtual stage; of the ends alone, None: not given
    stages_text: str = ""      # a layout
    lines: tuple = ()
    replicated: tuple = ()     # logical axes that the table does not split
    dtype: str = "f32"
    narrow_sums: bool = False  # gradients are summed in 16 bits
    overrides: tuple = ()      # (pattern, rest of the table)
    threads: int = 1
    bucket_layout: str = "aligned"
    per_host: int = 0          # ranks; 0: not said
    memory: int = 0            # bytes that a rank may use; 0: not said
    optimizer: str = "adamw"
    documents: tuple = ()      # what is done at their ends

    def stage_options(self):
        if self.stages == "ends":
            return [part for end, count in zip(("first", "last"), self.counts)
                    if count is not None for part in (f"--{end}-stage-layers", str(count))]
        given = {"even": "", "balanced": "balanced", "layout": self.stages_text}.get(
            self.stages, ",".join(map(str, self.counts)))
        return ["--stages", given] if given else []

    def options(self, place):
        """`place(name)`: where a file of the case is."""
        layout = self.layout
        if layout.schedule == OWN:
            layout = replace(layout, schedule=place("own.txt"))
        return [*self.spread(layout), *self.stage_options(), *self.same(place),
                *(["--bucket-layout", "dense"] if self.bucket_layout == "dense" else []),
                *(["--ranks-per-host", str(self.per_host)] if self.per_host else []),
                *(["--device-memory", str(self.memory)] if self.memory else [])]

    def spread(self, layout):
        """The options of a layout for these batches."""
        return layout.options(",".join(map(str, self.batches)))

    def same(self, place):
        """Options that another layout must have as well for the same bits."""
        return ["--seq", ",".join(map(str, self.lengths)), *precision.options(self.dtype),
                "--optimizer", self.optimizer,
                *(["--grad-dtype", narrow_type(self.dtype)] if self.narrow_sums else []),
                *(["--threads", str(self.threads)] if self.threads > 1 else []),
                *(part for axis in self.replicated for part in (f"--shard.{axis}", "none")),
                *(f"--{each}" for each in self.documents),
                *(["--strategy", place("own.toml")] if self.overrides else [])]

    def files(self):
        """Texts of the files that the options name."""
        tables = "".join(f'[[override]]\npattern = "{pattern}"\n{rest}\n'
                         for pattern, rest in self.overrides)
        return {"own.txt": random_schedules.text(self.lines, self.layout.chunks),
                "own.toml": tables}

    @property
    def has_group(self):
        """Whether some parameters are in a group of their own."""
        return any('group = "own"' in rest for _, rest in self.overrides)

    @property
    def microbatches(self):
        """Of a step of each batch."""
        return [batch // (self.layout.micro_batch * self.layout.dp) for batch in self.batches]

    @property
    def other_micro_batch(self):
        """That of one process: the largest, if a mean over microbatches is not what is
        trained."""
        means = "mask-document-ends" in self.documents and "loss-per-token" not in self.documents
        return self.layout.micro_batch if means else math.gcd(*self.batches)

    @property
    def ascends(self):
        """Whether gradients are added in the order of the microbatches."""
        return all([slot[1] for slot in line if slot[0] in "BW" and slot[2] == chunk]
                   == sorted(slot[1] for slot in line if slot[0] in "BW" and slot[2] == chunk)
                   for line in self.lines for chunk in range(self.layout.chunks))


def chance(random, share):
    return random.random() < share


def random_sizes(random):
    heads = random.choice((2, 3, 4, 4, 6))
    width = random.choice((4, 8, 16))
    hidden = heads * width if chance(random, 0.8) else random.choice((20, 24, 36))
    vocab = random.randint(20, 80)
    rates = (0.0, 0.0, 0.1, 0.3)
    return {"name": "random", "vocab": vocab,
            "padded": -(-vocab // 24) * 24 if chance(random, 0.8) else vocab,
            "layers": random.choice((1, 2, 3, 4, 4, 6, 6)), "hidden": hidden, "heads": heads,
            "head_dim": width if hidden != heads * width or chance(random, 0.5)
            else hidden // heads,
            "ffn": random.choice((2, 3, 4)) * hidden if chance(random, 0.8)
            else random.randint(9, 40), "longest": random.choice((8, 12, 16)),
            "tied": chance(random, 0.5), "norm": random.choice(("layer_norm", "rms_norm")),
            "qkv": random.choice(("fused", "separate")),
            "dropout": {place: random.choice(rates)
                        for place in ("embedding", "attention", "hidden")}}


def random_kv_heads(random, heads):
    """A divisor of the heads."""
    return random.choice([n for n in range(1, heads + 1) if heads % n == 0])


def split_layers(random, layers, parts):
    """Layers of virtual stages, mostly with the right sum."""
    cuts = sorted(random.randint(0, layers) for _ in range(parts - 1))
    if layers >= parts and chance(random, 0.7):
        cuts = sorted(random.sample(range(layers + 1), parts - 1))
    counts = [b - a for a, b in zip([0, *cuts], [*cuts, layers])]
    if chance(random, 0.1):
        counts[0] += 1
    return tuple(counts)


def layout_text(random, counts):
    """Stages as a string; what is said twice may be said once, with a number."""
    parts = []
    for count in counts:
        part = "t" * count
        if count > 1 and chance(random, 0.5):
            part = random.choice((f"t*{count}", "t," * (count - 1) + "t", f"(t)*{count}"))
        parts.append(part)
    if len(set(counts[1:-1])) == 1 and len(counts) > 3 and chance(random, 0.5):
        return f"E{parts[0]}|({parts[1]}|)*{len(counts) - 2}{parts[-1]}L"
    return "E" + "|".join(parts) + "L"


def random_stages(random, layers, pp, chunks):
    """How layers are given, and which."""
    kinds = ("even", "even", "list", "list", "list", "layout", "balanced", "ends")
    kind = random.choice(kinds)
    if kind == "ends":
        if pp == 1 or (chunks > 1 and chance(random, 0.7)):
            return {}
        ends = [random.randint(0, 3) if chance(random, 0.7) else None for _ in range(2)]
        return {"stages": kind, "counts": tuple(ends)} if ends != [None, None] else {}
    if kind in ("even", "balanced"):
        return {"stages": kind}
    counts = split_layers(random, layers, pp * chunks)
    return {"stages": kind, "counts": counts,
            "stages_text": layout_text(random, counts) if kind == "layout" else ""}


def random_recompute(random):
    kind = random.choice(("none", "none", "selective", "full", "layers", "layers", "ops",
                          "microbatches", "microbatches", "fit"))
    if kind in ("layers", "microbatches"):
        return f"{kind}={random.choice((1, 1, 2, 3))}"
    if kind == "ops":
        return "ops=" + ",".join(random.sample(FAMILIES, random.randint(1, 3)))
    return kind


def narrow_type(dtype):
    """What sums of gradients of 16 bits have."""
    return "bf16" if dtype == "f32" else dtype


def random_overlap(random):
    kinds = [kind for kind in KINDS if chance(random, 0.5)]
    return ",".join(kinds) or "none"


def random_overrides(random, dtype):
    """Types of some parameters, and shardings."""
    tables = []
    if chance(random, 0.03 if dtype == "f32" else 0.5):
        found = "bf16" if dtype == "f32" else "f32"
        tables += [(pattern, f'dtype = "{found}"')
                   for pattern in random.sample(F32, random.randint(1, 2))]
    if chance(random, 0.25):
        tables.append(random.choice(OVERRIDES))
    if chance(random, 0.25):
        decay = random.choice(("true", "false"))
        tables.append((random.choice(F32), f'group = "own"\ndecay = {decay}'))
    return tuple(tables)


def random_lengths(random, longest):
    first = longest - random.choice((0, 0, 0, 2, 4)) + chance(random, 0.03)
    shorter = max(1, first - random.choice((1, 2, 4, 4)))
    return (first, shorter) if chance(random, 0.2) else (first,)


def random_batches(random, unit, microbatches):
    """One, or a smaller one as well, mostly of whole microbatches."""
    batches = [unit * microbatches + chance(random, 0.05)]
    if microbatches > 1 and chance(random, 0.2):
        batches.append(unit * random.randint(1, microbatches - 1) + chance(random, 0.03))
    return tuple(dict.fromkeys(batches))


def random_axes(random):
    """Logical axes that are not split."""
    axes = tuple(axis for axis in ("ffn", "vocab") if chance(random, 0.15))
    if chance(random, 0.2):
        axes += random.choice((("heads", "kv-heads"), ("heads", "kv-heads"), ("heads",),
                               ("kv-heads",)))
    return axes


def random_order(random):
    behind = random.sample(("cp", "dp", "pp"), 3)
    return "-".join(("tp", *behind)) if chance(random, 0.3) else ""


def random_layout(random):
    pp = random.choice((1, 2, 2, 3, 4))
    chunks = random.choice((1, 1, 2, 3)) if pp > 1 or chance(random, 0.1) else 1
    schedule = (INTERLEAVED if (chunks > 1) != chance(random, 0.1)
                else random.choice(PLAIN))
    if chance(random, 0.25 if pp > 1 else 0.05):
        schedule = OWN
    recompute = random_recompute(random)
    return Layout(
        tp=random.choice((1, 1, 2, 2, 3, 4)), cp=random.choice((1, 1, 1, 2, 2, 3)), pp=pp,
        dp=random.choice((1, 1, 2, 3)), zero=random.randint(0, 2), schedule=schedule,
        micro_batch=random.choice((1, 2, 3)), sp=chance(random, 0.35), chunks=chunks,
        group=random.choice((0, 0, 0, 2, 3, 5)) if chunks > 1 else 0, recompute=recompute,
        overlap=random_overlap(random) if chance(random, 0.7) else "p2p",
        bucket=random.choice((0, 0, 100, 1000, 5000)), order=random_order(random),
        comm_thread=chance(random, 0.25),
        prepack=random.choice(("never", "auto", "always")),
        distribute=chance(random, 0.03 if recompute == "none" else 0.25))


def random_case(random, layout):
    """A model and all but the layout of a strategy for it."""
    sizes = random_sizes(random)
    sizes["kv_heads"] = random_kv_heads(random, sizes["heads"])
    stages = random_stages(random, sizes["layers"], layout.pp, layout.chunks)
    drawn = random.random()
    dtype = "bf16" if drawn < 0.15 else "fp16" if drawn < 0.25 else "f32"
    microbatches = random.randint(1, 8)
    lines = ()
    if layout.schedule == OWN:
        lines = random_schedules.walk(random, layout.pp, microbatches, layout.chunks)
        if chance(random, 0.3):
            lines = random_schedules.spoiled(random, lines)
        layout = replace(layout, group=layout.group if chance(random, 0.2) else 0)
    batches = random_batches(random, layout.micro_batch * layout.dp, microbatches)
    threads = random.choice((1, 1, 1, 2))
    return Case(sizes, layout, batches, random_lengths(random, sizes["longest"]), lines=lines,
                replicated=random_axes(random), dtype=dtype, **stages,
                narrow_sums=chance(random, 0.02 if dtype == "f32" else 0.35),
                overrides=random_overrides(random, dtype),
                # Threads of more ranks than there are cores wait for each other in loops.
                threads=threads if layout.ranks <= 2 else 1,
                bucket_layout="dense" if chance(random, 0.25) else "aligned",
                optimizer=random.choice(OPTIMIZERS),
                per_host=random.choice((1, 2, 3, 4)) if chance(random, 0.1) else 0,
                memory=1 << 30 if layout.recompute == "fit" and chance(random, 0.8) else 0)


def random_documents(random):
    if chance(random, 0.6):
        return ()
    return tuple(each for each in DOCUMENTS if chance(random, 0.6))


def mixed_case(random):
    """Of ranks that a machine has: half of them train, and of some of the others the schedule
    alone cannot be, which would be rare by chance. A layout has a few tries with random
    models, or all that trained would be small ones."""
    goal = random.choices(("trains", "rejected", "schedule"), (5, 4, 1))[0]
    while True:
        layout = random_layout(random)
        if layout.ranks > MOST_RANKS:
            continue
        for _ in range(TRIES):
            case = random_case(random, layout)
            if goal in ("rejected" if broken_rules(case) else "trains",
                        "schedule" if breaks_schedule(case) else ""):
                return replace(case, documents=random_documents(random))
