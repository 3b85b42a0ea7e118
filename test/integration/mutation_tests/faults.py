"""The faults: an edit of the IR of one phase each, and who must catch it.

A fault is `caught_by` a phase that rejects it, with words that its error must have,
and (`seen_in`) by a run: with the phases after it continued but verify-plan left out,
the run disagrees with the golden in a sentence that must have these words. Most have
both, so the numbers are no safer than the verifier, nor the other way round.
"""

import re
from dataclasses import dataclass, replace
from typing import Callable, Optional

from ir_edit import find, gradient_value, scale_operand, substitute, within
from layouts import TP2_PP2_DP2, Layout


@dataclass(frozen=True)
class Fault:
    number: int
    name: str
    phase: str
    edit: Callable[[str], str]
    caught_by: Optional[str] = None
    says: str = ""
    seen_in: str = ""
    # The sums are right but for their order: only bits can tell.
    by_bits: bool = False
    layout: Layout = TP2_PP2_DP2


def drop_all_reduce(text):
    """Readers of the sum read the partial sum."""
    op = find(text, r'^ *(%\w+) = dist\.all_reduce sum (%\w+) over "tp" origin +g '
                    r'serves "layers\.0\.mlp\.down\.weight".*\n')
    text = text.replace(op.group(), "")
    return re.sub(rf"{op.group(1)}\b", op.group(2), text)


def drop_all_reduce_at_rt(text):
    """The same, on bytes: all members drop it, so that none waits for another."""
    call = (r'^ *rt\.collective all_reduce %\w+ group tp .*'
            r'serves = "layers\.0\.mlp\.down\.weight".*\n')
    return within(text, r"func\.func @stage0_fwd\(", lambda block: substitute(
        block, call, ""))


def double_all_gradients(text):
    """The derivative of the loss by itself is 2."""
    return substitute(text, r"tfm\.fill 1\.0+e\+00 (.*backward)",
                      r"tfm.fill 2.000000e+00 \1")


def lose_norm_scales(text):
    """No backward adds to the accumulator of a layer's first norm."""
    return substitute(text, r'^ *pipe\.accumulate %\w+ to "layers\.\d\.norm1\.scale".*\n',
                      "", count=4)


def double_weight_gradient(text):
    value = gradient_value(text, "layers.0.mlp.up.weight")
    return scale_operand(text, value, 1, 2.0)


def zero_norm_scale_gradients(text):
    """They exist, and are zero."""
    for layer in range(4):
        value = gradient_value(text, f"layers.{layer}.norm1.scale")
        text = scale_operand(text, value, 0, 0.0)
    return text


def swap_sends(text):
    """Stage 0 sends microbatch 1's activations where stage 1 expects those of 0."""
    def swap(block):
        head = (r"#rt\.transfer<send = true, peer = 1, tag = <value = activation, "
                r"microbatch = ")
        # Each stands in the row that posts it and in the one that waits.
        block = substitute(block, rf"({head})0,", r"\1swapped,", 2)
        block = substitute(block, rf"({head})1,", r"\g<1>0,", 2)
        return substitute(block, rf"({head})swapped,", r"\g<1>1,", 2)
    return within(text, r"rt\.program @stage0 ", lambda program: within(
        program, r"rt\.timeline @train ", swap))


def offset_of_output(block, kernel_from, layer):
    """Offset of the last view of the launch that came from these ops."""
    launch = find(block, rf'^ *rt\.launch @\w+\((.*)\) args\(.*from = "{kernel_from}", '
                         rf"tfm\.layer = {layer} .*$")
    view = launch.group(1).split(", ")[-1]
    return find(block[:launch.start()],
                rf"^ *{view} = rt\.view activations at (\d+) ").group(1)


def overlap_views(text, by):
    """GELU's result of layer 0 lies `by` bytes behind its argument, which backward
    reads again."""
    def edit(program):
        forward = find(program, r"(?s)func\.func @stage0_fwd\(.*?\n    \}\n").group()
        result = offset_of_output(forward, r"broadcast\+add\+activation", 1)
        gemm = find(forward, r"^ *rt\.gemm %\w+, %\w+ into (%\w+) scratch %\w+ "
                             r"m 64 n 128 k 64 by own \{.*tfm\.layer = 1 .*$")
        argument = find(forward[:gemm.start()], rf"^ *{gemm.group(1)} = rt\.view "
                                                r"activations at (\d+) ").group(1)
        # Views of it: written and read forward, and in eval, read backward.
        return substitute(program, f"activations at {result} ",
                          f"activations at {int(argument) + by} ",
                          count=len(re.findall(f"activations at {result} ", program)))
    return within(text, r"rt\.program @stage0 ", edit)


def overlap_in_part(text):
    return overlap_views(text, 4096)


def overlap_fully(text):
    return overlap_views(text, 0)


def unmask_padding(text):
    """The 6 logits of the padding take part in the softmax, and get gradients."""
    return substitute(text, r"(tfm\.mask_tail %\w+ from) 250 ", r"\1 256 ", count=3)


def count_twice_in_norm(text):
    """Both tp ranks count the gradient of the positions, which they both hold, and of their neighbours."""
    place = int(find(text, r'rt\.param "embed\.positions" use 0 bucket 0 start (\d+)\b').group(1))

    def edit(block):
        ranges = re.findall(r"rt\.flat_range start (\d+) count (\d+) .*among <tp>", block)
        start = next(start for start, count in ranges if int(start) <= place < int(start) + int(count))
        return substitute(block, rf"(rt\.flat_range start {start} .*) among <tp>", r"\1")

    return within(text, r"func\.func @stage0_reduce\(", edit)


SUM_OVER_TP = r'^ *rt\.collective all_reduce %\w+ group tp .*origin = "gradient".*\n'


def drop_sum_over_tp(text):
    """Gradients of norms and row-parallel biases are those of each rank's positions."""
    return within(text, r"func\.func @stage0_reduce\(", lambda block: substitute(
        block, SUM_OVER_TP, ""))


def double_sum_over_tp(text):
    """The same gradients are added again."""
    return within(text, r"func\.func @stage0_reduce\(", lambda block: substitute(
        block, f"({SUM_OVER_TP})", r"\1\1"))


def wrong_gradient_rule(text):
    """One layer's backward differentiates another activation."""
    return substitute(text, r"tfm\.activation_grad gelu (.*tfm\.layer = 1 )",
                      r"tfm.activation_grad silu \1")


def reorder_schedule(text):
    """Microbatch 2 is accumulated before microbatch 1, on both stages. (0 and 1
    would not do: a sum of two has one order only.)"""
    return substitute(text, r'"F0 F1 B0 F2 B1 F3 B2 B3", "F0 B0 F1 B1 F2 B2 F3 B3"',
                      '"F0 F1 B0 F2 B2 B1 F3 B3", "F0 B0 F1 F2 B2 B1 F3 B3"')


def reorder_timelines(text):
    """The numbers 1 and 2 of microbatches exchanged in loads, calls and tags of all
    stages: a plan that works, in another order."""
    names = {"microbatch 1 ": "microbatch 2 ", "microbatch = 1,": "microbatch = 2,"}
    names |= {new: old for old, new in names.items()}
    def rename(block):
        pattern = "|".join(map(re.escape, names))
        return re.sub(pattern, lambda match: names[match.group()], block)
    for stage in range(2):
        text = within(text, rf"rt\.program @stage{stage} ", lambda program: within(
            program, r"rt\.timeline @train ", rename))
    return text


WITH_SP = replace(TP2_PP2_DP2, sp=True)
FAULTS = (
    Fault(1, "an all-reduce dropped", "partition", drop_all_reduce,
          "verify-partitioned", "partial"),
    Fault(1, "an all-reduce dropped, of bytes", "plan-memory", drop_all_reduce_at_rt,
          "verify-plan", "to leave in a slot what its tensor form saves", seen_in="gradient of"),
    Fault(2, "all gradients doubled", "differentiate", double_all_gradients,
          seen_in="gradient of"),
    Fault(3, "gradients of first norm scales lost", "expand-schedule",
          lose_norm_scales, "bucket-gradients", "layers.0.norm1.scale"),
    Fault(3, "gradients of first norm scales zero", "differentiate",
          zero_norm_scale_gradients, seen_in="norm1.scale"),
    Fault(4, "one weight gradient doubled", "differentiate", double_weight_gradient,
          seen_in="gradient of layers.0.mlp.up.weight"),
    Fault(5, "two sends swapped", "plan-memory", swap_sends, "verify-plan", "a1.0",
          "tag"),
    Fault(6, "a view overlaps another in part", "plan-memory", overlap_in_part,
          "verify-plan", "", "gradient of"),
    # As bytes this is GELU in place, and a backward that reads one tensor twice.
    Fault(6, "a view over another", "plan-memory", overlap_fully,
          "verify-plan", "share no bytes", "gradient of"),
    Fault(7, "padded logits not masked", "differentiate", unmask_padding,
          seen_in="loss of step"),
    Fault(8, "a shard counted twice in the norm", "plan-memory", count_twice_in_norm,
          "verify-plan", "among tp ranks", "grad_norm of step"),
    Fault(9, "a wrong gradient rule", "differentiate", wrong_gradient_rule,
          seen_in="gradient of"),
    Fault(10, "a schedule that does not ascend", "build-schedule", reorder_schedule,
          "expand-schedule", "ascending"),
    Fault(10, "a microbatch accumulated out of order", "plan-memory",
          reorder_timelines, "verify-plan", "microbatch", by_bits=True),
    Fault(11, "sums over tp dropped", "plan-memory", drop_sum_over_tp, "verify-plan",
          "to be partial sums over tp", "gradient of", layout=WITH_SP),
    Fault(11, "sums over tp doubled", "plan-memory", double_sum_over_tp, "verify-plan",
          "along tp only", "gradient of", layout=WITH_SP),
)
