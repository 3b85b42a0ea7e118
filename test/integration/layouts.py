"""The layouts that the integration tests compile."""

import os

from dataclasses import dataclass


# Samples of a step.
GLOBAL_BATCH = 16

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclass(frozen=True)
class Layout:
    """How a model is spread."""
    tp: int = 1
    pp: int = 1
    dp: int = 1
    zero: int = 0
    schedule: str = "1f1b"
    micro_batch: int = 2
    sp: bool = False
    chunks: int = 1
    layers: tuple = ()  # by virtual stage; none: the same number each
    group: int = 0      # microbatches that go through a chunk in turn; 0: pp
    recompute: str = "none"
    overlap: str = "p2p"
    bucket: int = 0     # elements of a bucket of gradients; 0: mtc's default
    order: str = ""     # of ranks; none: the default
    cp: int = 1
    comm_thread: bool = False
    prepack: str = "never"    # weights that are packed for products once a step
    distribute: bool = False  # what ranks along tp all have is saved in parts

    @property
    def schedule_name(self):
        return os.path.splitext(os.path.basename(self.schedule))[0]

    @property
    def ranks(self):
        return self.tp * self.cp * self.pp * self.dp

    @property
    def name(self):
        name = f"tp{self.tp}-pp{self.pp}-dp{self.dp}-mbs{self.micro_batch}"
        if self.dp > 1:
            name += f"-zero{self.zero}"
        if self.pp > 1:
            name += f"-{self.schedule_name}"
        if self.chunks > 1:
            name += f"-chunks{self.chunks}"
        if self.layers:
            name += "-layers" + "".join(str(count) for count in self.layers)
        if self.recompute != "none":
            name += f"-recompute-{self.recompute}"
        if self.distribute:
            name += "-distributed"
        if self.overlap != "p2p":
            name += f"-overlap-{self.overlap}"
        if self.bucket:
            name += f"-bucket{self.bucket}"
        if self.order:
            name += f"-order-{self.order}"
        if self.cp > 1:
            name += f"-cp{self.cp}"
        if self.comm_thread:
            name += "-comm-thread"
        if self.prepack != "never":
            name += f"-prepack-{self.prepack}"
        return name + ("-sp" if self.sp else "")

    @property
    def numerics_class(self):
        """Layouts with equal values here must agree to the bit (contract N4); what is
        computed again has the bits that were not saved. ZeRO-2 adds gradients over dp
        and then over microbatches, others the other way round: one microbatch is the same."""
        dp_first = self.zero == 2 and self.dp * self.micro_batch < GLOBAL_BATCH
        return (self.tp, self.cp, self.dp, self.micro_batch, self.sp, dp_first)

    def options(self, global_batch=GLOBAL_BATCH):
        """Options of `mtc compile`."""
        return ["--tp", str(self.tp), "--pp", str(self.pp), "--dp", str(self.dp),
                "--mbs", str(self.micro_batch), "--gbs", str(global_batch),
                "--zero", str(self.zero), "--schedule", self.schedule,
                *(["--cp", str(self.cp)] if self.cp > 1 else []),
                *(["--sp"] if self.sp else []),
                *(["--chunks", str(self.chunks)] if self.chunks > 1 else []),
                *(["--stages", ",".join(map(str, self.layers))] if self.layers else []),
                *(["--microbatch-group", str(self.group)] if self.group else []),
                *(["--rank-order", self.order] if self.order else []),
                *(["--recompute", self.recompute] if self.recompute != "none" else []),
                *(["--distribute-saved-activations"] if self.distribute else []),
                *(["--overlap", self.overlap] if self.overlap != "p2p" else []),
                *(["--bucket-size", str(self.bucket)] if self.bucket else []),
                *(["--prepack", self.prepack] if self.prepack != "never" else []),
                *(["--comm-thread"] if self.comm_thread else [])]


# One rank that takes the whole batch at once: as far from the others as can be.
SINGLE = Layout(micro_batch=16)
TP2_PP2_DP2 = Layout(tp=2, pp=2, dp=2, zero=1)
TP2_CP2_PP2 = Layout(tp=2, cp=2, pp=2, sp=True)


def written(name):
    """The path of a schedule in a file."""
    return os.path.join(HERE, "schedules", name + ".txt")


def matrix(schedules):
    """The layouts of at most 8 ranks: tp and pp of 1, 2, 4, dp of 1, 2, with ZeRO off
    and on where dp = 2. Where pp > 1: all of `schedules`, and with dp = 2 the first two:
    replicas meet after the last microbatch only, whatever the schedule was."""
    return [Layout(tp, pp, dp, zero, schedule)
            for tp in (1, 2, 4)
            for dp in (1, 2)
            for pp in (1, 2, 4) if tp * pp * dp <= 8
            for zero in ((0, 1) if dp > 1 else (0,))
            for schedule in (("1f1b",) if pp == 1 else schedules[:2] if dp > 1
                             else schedules)
            ] + [*sequence_parallel(schedules), *virtual_stages(), *written_schedules(),
                 *recomputations(schedules), *whole_exchanges(schedules),
                 *sharded_gradients(schedules), *orders(),
                 *context_parallel(schedules)]


def orders():
    """Ranks that count through the stages before the replicas: no bit depends on it."""
    return [Layout(2, 2, 2, 1, order="tp-cp-pp-dp"), Layout(1, 4, 2, 0, order="tp-cp-pp-dp")]


def sequence_parallel(schedules):
    """With the residual stream split over tp: each axis beside it, and all of them."""
    return [Layout(2, sp=True), Layout(4, sp=True), Layout(2, 4, sp=True),
            Layout(2, 1, 2, 0, sp=True), Layout(2, 2, 2, 1, sp=True),
            Layout(2, 2, 2, 0, schedules[1], sp=True), Layout(4, 2, sp=True)]


def virtual_stages():
    """Several chunks of layers a stage, beside each axis; stages without a layer; groups
    of microbatches that are no multiple of the stages; three stages."""
    ends = (0, 1, 1, 1, 1, 0)

    def interleaved(*sizes, **more):
        return Layout(*sizes, schedule="interleaved-1f1b", **more)
    return [interleaved(1, 2, chunks=2), interleaved(2, 2, chunks=2),
            interleaved(1, 2, 2, 0, chunks=2), interleaved(1, 2, 2, 1, chunks=2),
            interleaved(2, 2, 2, 1, chunks=2, sp=True, layers=(0, 2, 1, 1)),
            interleaved(1, 3, chunks=2, layers=ends, group=4),
            interleaved(2, 2, chunks=3, layers=ends, group=5),
            Layout(1, 3, layers=(0, 4, 0)), Layout(2, 4, layers=(1, 1, 2, 0))]


def written_schedules():
    """Schedules in files: one that splits backwards on some stages only, with input
    gradients ahead of forwards, and one of two chunks."""
    partly, chunks = written("partly-split"), written("split-chunks")
    return [Layout(1, 3, 1, 0, partly, layers=(1, 2, 1)),
            Layout(2, 3, 1, 0, partly, layers=(2, 2, 0), sp=True),
            Layout(2, 2, 2, 1, chunks, chunks=2),
            Layout(2, 3, 1, 0, "zb-h1", layers=(1, 2, 1), sp=True),
            Layout(1, 2, 2, 1, "zb-h1")]


def recomputations(schedules):
    """Each policy, on one rank and beside each axis; each has the bits of its layout
    without."""
    return [Layout(recompute="full"), Layout(2, recompute="selective"),
            Layout(2, recompute="ops=norm,pointwise"),
            Layout(2, 2, recompute="layers=1"), Layout(2, sp=True, recompute="full"),
            Layout(2, 2, 2, 1, sp=True, recompute="full"),
            Layout(2, 2, 2, 0, schedules[0], sp=True,
                   recompute="ops=attention,dropout,einsum"),
            Layout(4, 2, sp=True, recompute="selective"),
            Layout(2, 2, schedule="interleaved-1f1b", chunks=2, sp=True, recompute="full"),
            Layout(1, 3, schedule="zb-h1", layers=(1, 2, 1), recompute="layers=1"),
            *some_microbatches(schedules), *distributed()]


def some_microbatches(schedules):
    """Some of the microbatches in flight are computed again: beside each axis, in each
    kind of schedule."""
    some = "microbatches=1"
    return [Layout(recompute="microbatches=1"), Layout(1, 2, recompute=some),
            Layout(1, 4, schedule="gpipe", recompute="microbatches=3"),
            Layout(2, 2, 2, 1, sp=True, recompute=some),
            Layout(1, 2, schedule="interleaved-1f1b", chunks=2, recompute=some),
            Layout(1, 3, schedule="zb-h1", layers=(1, 2, 1), recompute=some),
            Layout(1, 2, 2, 2, recompute=some),
            Layout(1, 3, 1, 0, written("partly-split"), layers=(1, 2, 1), recompute=some)]


def distributed():
    """Ranks along tp save a part each of a layer's input."""
    return [Layout(2, recompute="full", distribute=True),
            Layout(4, 2, recompute="full", distribute=True),
            Layout(2, 2, 2, 1, recompute="layers=1", distribute=True),
            Layout(2, 2, recompute="microbatches=1", distribute=True),
            Layout(2, cp=2, recompute="full", distribute=True)]


def whole_exchanges(schedules):
    """Transfers that are not posted ahead of their wait: the bits of those that are."""
    return [Layout(1, 4, schedule=name, overlap="none") for name in schedules] + [
        Layout(2, 2, 2, 1, schedules[0], sp=True, overlap="none"),
        Layout(2, 3, 1, 0, "zb-h1", layers=(1, 2, 1), overlap="none"),
        Layout(2, 2, chunks=2, schedule="interleaved-1f1b", overlap="none")]


def sharded_gradients(schedules):
    """ZeRO-2 beside each axis, with backwards in halves, chunks and recomputation, in one
    bucket and in many; and with one microbatch, whose bits are those of ZeRO-1."""
    return [Layout(dp=2, zero=2), Layout(dp=4, zero=2), Layout(2, 1, 2, 2),
            Layout(dp=2, zero=2, bucket=20_000),
            Layout(2, 2, 2, 2, sp=True, bucket=20_000),
            Layout(1, 2, 2, 2), Layout(1, 4, 2, 2, schedules[1]), Layout(2, 2, 2, 2),
            Layout(2, 1, 2, 2, sp=True), Layout(2, 2, 2, 2, "zb-h1", sp=True),
            Layout(1, 2, 2, 2, "interleaved-1f1b", chunks=2),
            Layout(1, 2, 2, 2, "zb-h1"), Layout(1, 2, 2, 2, written("split-chunks"), chunks=2),
            Layout(1, 2, 2, 2, recompute="full"),
            *(Layout(dp=2, zero=zero, micro_batch=8) for zero in (1, 2))]


def context_parallel(schedules):
    """With samples in pieces over cp: alone, and beside each axis and what else saves
    memory. Sums over dp are scattered, or not, before those over cp."""
    return [Layout(cp=2), Layout(cp=4), Layout(2, cp=2), Layout(2, cp=2, sp=True),
            Layout(1, 2, cp=2), Layout(1, 1, 2, 1, cp=2), Layout(1, 1, 2, 2, cp=2),
            Layout(1, 2, 2, 0, cp=2, order="tp-cp-pp-dp"),
            Layout(1, 2, 2, 2, cp=2, recompute="selective"),
            Layout(2, 1, 2, 1, cp=2, sp=True, recompute="full"),
            Layout(1, 2, 1, 0, "interleaved-1f1b", chunks=2, cp=2),
            Layout(1, 2, 1, 0, "zb-h1", cp=2)]
