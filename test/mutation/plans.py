"""The plans whose IR is mutated: small enough for thousands of runs, and together with
everything that a plan can have."""

import os
import sys
from dataclasses import dataclass

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                                "integration"))

import precision
from layouts import Layout, written
from small_spec import small_spec

SEQ, VOCAB, GLOBAL_BATCH = 8, 30, 8
LAST = "p2p,grad-reduce"  # sums of gradients in the backward of the last microbatch
BATCHES, LENGTHS = (GLOBAL_BATCH, GLOBAL_BATCH // 2), (SEQ, SEQ // 2)
FIRST = "p2p,param-gather"  # gathers of parameters in the forward of the first one
DOCUMENTS = ("--mask-document-ends", "--reset-positions", "--reset-attention")

# Layers in parts over the replicas, which bring their samples together.
OVER_DP = ("--shard.ffn", "dp", "--shard.heads", "dp", "--shard.kv-heads", "dp")


@dataclass(frozen=True)
class Plan:
    """A spec, how it is spread, and what else `mtc compile` is told."""
    layout: Layout
    layers: int = 2
    tied: bool = True
    norm: str = "layer_norm"
    qkv: str = "fused"
    kv_heads: int = 4
    dtype: str = "f32"
    longest: int = SEQ
    lengths: tuple = (SEQ,)  # tokens of samples, the longest first
    batches: tuple = (GLOBAL_BATCH,)  # samples of steps, the most first
    streams: int = 1
    more: tuple = ()
    documents: bool = False
    often: bool = False  # one of the few for tests that run often

    @property
    def name(self):
        parts = [self.layout.name, "tied" if self.tied else "untied"]
        parts += [self.norm] if self.norm != "layer_norm" else []
        parts += [self.qkv] if self.qkv != "fused" else []
        parts += [f"kv{self.kv_heads}"] if self.kv_heads != 4 else []
        parts += [self.dtype] if self.dtype != "f32" else []
        parts += ["two-streams"] if self.streams > 1 else []
        parts += ["longer"] if self.longest != SEQ else []
        parts += ["lengths"] if len(self.lengths) > 1 else []
        parts += ["batches"] if len(self.batches) > 1 else []
        parts += ["over-dp"] if self.more == OVER_DP else ["buckets"] if self.more else []
        parts += ["documents"] if self.documents else []
        return "-".join(parts)

    def spec(self):
        return small_spec(self.tied, name="mutant", vocab=VOCAB, padded=32, hidden=16, heads=4,
                          ffn=32, layers=self.layers, norm=self.norm, qkv=self.qkv,
                          kv_heads=self.kv_heads, longest=self.longest, dropout=0.1)

    def options(self):
        options = [*self.layout.options(comma(self.batches)), *precision.options(self.dtype),
                   "--seq", comma(self.lengths), *self.more,
                   *(DOCUMENTS if self.documents else ())]
        # Streams and events are those of plans for a GPU, scratch is that of the cpu's calls.
        return options + (["--comm-thread"] if self.streams > 1 else [])


def comma(numbers):
    return ",".join(map(str, numbers))


def layout(tp=1, pp=1, dp=1, zero=0, schedule="1f1b", **more):
    return Layout(tp, pp, dp, zero, schedule, micro_batch=1, **more)


def chunked(**more):
    """Two chunks a stage; ends of the model without a layer save some layers."""
    return layout(pp=2, schedule="interleaved-1f1b", chunks=2, **more)


def plans(schedules):
    """At least twenty, with every one of `schedules` that `mtc compile` trains with."""
    found = [
        Plan(layout()),
        Plan(layout(), tied=False, norm="rms_norm"),
        Plan(layout(tp=2)),
        Plan(layout(tp=2), qkv="separate", often=True),
        Plan(layout(tp=4), tied=False),
        Plan(layout(dp=2)),
        Plan(layout(dp=2, zero=1)),
        Plan(layout(dp=2, zero=1), dtype="bf16", often=True),
        Plan(layout(tp=2, dp=2, zero=1), more=("--bucket-size", "500"), often=True),
        Plan(layout(tp=2), dtype="bf16"),
        Plan(layout(tp=2, dp=2, zero=1), dtype="fp16"),
        Plan(layout(pp=2, dp=2, zero=2), dtype=precision.FP16_SUMS, tied=False),
        Plan(layout(tp=2, pp=2, dp=2, zero=1, sp=True), dtype=precision.SUMS),
        Plan(layout(dp=2, zero=2), dtype=precision.SUMS, more=("--bucket-size", "500")),
        Plan(layout(pp=4), layers=4),
        Plan(layout(pp=2, dp=2, zero=1), often=True),
        Plan(layout(pp=2), dtype="bf16", tied=False),
        Plan(layout(tp=2, dp=2, zero=1), longest=12),
        Plan(layout(tp=2, pp=2), norm="rms_norm", often=True),
        Plan(layout(tp=2, pp=2, dp=2, zero=0)),
        Plan(layout(tp=2, pp=2, dp=2, zero=1)),
        Plan(layout(tp=2, pp=2, dp=2, zero=1), dtype="bf16", tied=False),
        Plan(layout(tp=2, sp=True), often=True),
        Plan(layout(tp=2, pp=2, sp=True), norm="rms_norm", tied=False),
        Plan(layout(tp=2, dp=2, sp=True), more=("--bucket-size", "100")),
        Plan(layout(tp=2, dp=2, zero=1, sp=True)),
        Plan(layout(tp=4, dp=2, zero=1, sp=True), dtype="bf16"),
        Plan(layout(tp=2, pp=2, dp=2, zero=2, sp=True), more=("--bucket-size", "500"), often=True),
        Plan(layout(pp=2, dp=2, zero=2, schedule="zb-h1"), dtype="bf16"),
        Plan(chunked(), layers=4, often=True),
        Plan(chunked(tp=2, layers=(0, 1, 1, 0)), tied=False, norm="rms_norm"),
        Plan(chunked(dp=2, zero=1, layers=(0, 1, 1, 0), recompute="full")),
        Plan(layout(pp=3, schedule="zb-h1"), layers=3, often=True),
        Plan(layout(tp=2, pp=2, schedule="zb-h1", sp=True), tied=False),
        Plan(layout(pp=3, schedule=written("partly-split")), layers=3),
        Plan(layout(pp=2, schedule=written("own-order")), tied=False),
        Plan(layout(pp=2, dp=2, chunks=2, layers=(0, 1, 1, 0),
                    schedule=written("split-chunks")), dtype="bf16"),
        Plan(layout(tp=2, recompute="selective"), often=True),
        Plan(layout(tp=2, pp=2, sp=True, recompute="full")),
        Plan(layout(pp=2, schedule="zb-h1", recompute="layers=1")),
        Plan(layout(pp=2, recompute="microbatches=1")),
        Plan(layout(pp=2, dp=2, zero=1, recompute="microbatches=1",
                    overlap=LAST + ",param-gather"), tied=False),
        Plan(chunked(dp=2, zero=1, recompute="microbatches=2", overlap=FIRST), layers=4),
        Plan(layout(pp=2, overlap="none"), often=True),
        Plan(layout(pp=3, schedule="zb-h1", overlap="none"), layers=3),
        Plan(chunked(tp=2, overlap="none"), layers=4, tied=False),
        Plan(layout(dp=2, zero=1, overlap=LAST), more=("--bucket-size", "500"), often=True),
        Plan(layout(tp=2, pp=2, dp=2, zero=1, schedule="zb-h1", sp=True, overlap=LAST),
             more=("--bucket-size", "500")),
        Plan(chunked(dp=2, overlap=LAST), layers=4),
        Plan(layout(tp=2, dp=2, zero=1, overlap=LAST), streams=2),
        Plan(layout(dp=2, zero=1, overlap=FIRST), more=("--bucket-size", "500"), often=True),
        Plan(layout(tp=2, pp=2, dp=2, zero=2, schedule="zb-h1", overlap=FIRST), dtype="bf16"),
        Plan(chunked(dp=2, zero=1, overlap=LAST + ",param-gather"), layers=4, tied=False),
        Plan(layout(tp=2, dp=2, zero=1, overlap=FIRST), streams=2),
        Plan(layout(tp=2), streams=2),
        Plan(layout(tp=2, pp=2, dp=2, zero=1), streams=2),
        Plan(layout(tp=2, prepack="always"), often=True),
        Plan(layout(pp=2, dp=2, zero=1, schedule="zb-h1", overlap=FIRST, prepack="always"),
             dtype="bf16"),
        Plan(chunked(recompute="full", prepack="always"), layers=4, tied=False),
        Plan(layout(pp=2, prepack="auto"), batches=BATCHES, dtype="fp16"),
        Plan(layout(dp=2), more=OVER_DP),
        Plan(layout(tp=2, dp=2, zero=2), more=OVER_DP),
        Plan(layout(pp=2, dp=2, zero=1, overlap=LAST), more=OVER_DP, dtype="bf16"),
        Plan(layout(cp=2), often=True),
        Plan(layout(cp=2, tp=2), qkv="separate", tied=False),
        Plan(layout(cp=2, tp=2, sp=True), norm="rms_norm"),
        Plan(layout(cp=2, pp=2, recompute="selective")),
        Plan(layout(cp=2, dp=2, zero=1), dtype="bf16", more=("--bucket-size", "500")),
        Plan(layout(cp=2, dp=2, zero=2, overlap=LAST)),
        Plan(layout(cp=4, schedule="gpipe"), tied=False),
        Plan(layout(cp=2, pp=2, schedule="zb-h1", order="tp-cp-pp-dp")),
        Plan(layout(cp=2, tp=2, dp=2, zero=1), streams=2),
        Plan(layout(tp=2, pp=2, dp=2, zero=1, order="tp-cp-pp-dp"), qkv="separate"),
        Plan(chunked(tp=2, dp=2, zero=2, sp=True, layers=(0, 1, 1, 0)), tied=False),
        Plan(chunked(cp=2, recompute="full"), layers=4, norm="rms_norm"),
        Plan(layout(tp=2), qkv="separate", kv_heads=1, often=True),
        Plan(layout(tp=4, dp=2, zero=1, sp=True), qkv="separate", kv_heads=2),
        Plan(layout(tp=4, pp=2, overlap=LAST), qkv="separate", kv_heads=2, dtype="bf16"),
        Plan(layout(tp=2, cp=2, dp=2, zero=2), qkv="separate", kv_heads=1),
        Plan(layout(tp=2), kv_heads=1, often=True),
        Plan(layout(tp=4, dp=2, zero=1, sp=True), kv_heads=2, dtype="bf16"),
        Plan(layout(tp=2, pp=2, cp=2), kv_heads=1),
        Plan(layout(tp=2, recompute="full", distribute=True)),
        Plan(layout(tp=2, pp=2, recompute="ops=norm,pointwise"), qkv="separate"),
        Plan(layout(pp=2, dp=2, zero=1, overlap=LAST), more=("--bucket-layout", "dense")),
        Plan(layout(tp=2, dp=2, zero=1, overlap=LAST, comm_thread=True), dtype="bf16"),
        Plan(layout(pp=2), batches=BATCHES, often=True),
        Plan(layout(tp=2, dp=2, zero=1, sp=True, overlap=LAST), batches=BATCHES),
        Plan(layout(pp=2, dp=2, zero=2, schedule="zb-h1", recompute="selective", overlap=FIRST),
             batches=BATCHES, dtype="bf16", tied=False),
        Plan(chunked(overlap=FIRST, dp=2, zero=1), layers=4, batches=BATCHES),
        Plan(layout(tp=2), lengths=LENGTHS, often=True),
        Plan(layout(pp=2, dp=2, zero=1, schedule="zb-h1"), lengths=LENGTHS, tied=False),
        Plan(layout(cp=2, pp=2, recompute="full", overlap=LAST), lengths=LENGTHS, dtype="bf16"),
        Plan(layout(pp=2, dp=2), lengths=LENGTHS, batches=BATCHES),
        Plan(layout(tp=2, dp=2, zero=1), documents=True),
        Plan(layout(cp=2, pp=2), documents=True, often=True),
        Plan(chunked(dp=2, recompute="full"), layers=4, batches=BATCHES, documents=True),
    ]
    return found + [Plan(layout(pp=2, schedule=name), tied=name != "gpipe")
                    for name in schedules]
