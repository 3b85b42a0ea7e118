"""An independent opinion on which strategies can be, from what their keys mean: nothing of
it is asked of mtc or taken from its code, but for words of its messages."""

import random_schedules

INTERLEAVED, OWN = "interleaved-1f1b", "own"


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


# Of a file that does not fit the options: a usage error.
TOO_SHORT = "expected at least"


def own_rules(case):
    """A schedule in a file."""
    layout = case.layout
    if len(case.batches) > 1:
        yield True, "one number of microbatches"
        return
    slots = 2 * case.microbatches[0] * layout.chunks
    if max(map(len, case.lines)) < slots:  # it is one of fewer microbatches
        yield True, TOO_SHORT
        return
    for fault in random_schedules.faults(case.lines, case.microbatches[0], layout.chunks):
        yield True, fault
    yield layout.group > 0, "microbatch_group is for schedules by name"
    yield layout.chunks > 1 and layout.pp == 1, "chunks of one stage"


def between_ends(case):
    """Layers that the ends leave, and stages for them."""
    given = [count for count in case.counts if count is not None]
    return case.sizes["layers"] - sum(given), case.layout.pp - len(given)


def end_rules(case):
    """What is between the ends is shared evenly, a layer or more each."""
    if case.layout.chunks > 1:
        yield True, "chunks == 1 with first_stage_layers"
        return
    rest, stages = between_ends(case)
    is_short = rest < stages or (stages == 0 and rest > 0)
    yield is_short, "a layer for each stage between the ends"
    yield (not is_short and stages > 0 and rest % stages != 0,
           "(layers - first_stage_layers - last_stage_layers) %")


def stage_rules(case):
    layers, stages = case.sizes["layers"], case.layout.pp * case.layout.chunks
    if case.stages in ("list", "layout"):
        yield sum(case.counts) != layers, "the sum of layers_per_stage == layers"
        yield 0 in case.counts[1:-1], "layers_per_stage[i] >= 1"
    elif case.stages == "balanced":
        yield layers < stages - 2, "a layer for each stage between the ends"
    elif case.stages == "ends":
        yield from end_rules(case)
    else:
        yield layers < stages, "layers >= pp"
        yield layers >= stages and layers % stages != 0, "without layers_per_stage"


def most_layers(case):
    """Of a stage, at most."""
    layers, pp = case.sizes["layers"], case.layout.pp
    if case.stages in ("list", "layout"):
        return max(sum(case.counts[stage::pp]) for stage in range(pp))
    if case.stages == "balanced" or (case.stages == "ends" and case.layout.chunks > 1):
        return layers  # mtc decides, or another rule is broken
    if case.stages == "ends":
        rest, stages = between_ends(case)
        return max([count or 0 for count in case.counts]
                   + ([-(-rest // stages)] if stages else []))
    return -(-layers // pp)


def recompute_rules(case):
    layout = case.layout
    kind, _, count = layout.recompute.partition("=")
    if kind == "layers":
        yield int(count) > most_layers(case), "no more layers than a stage has"
    if kind == "microbatches":
        unit = layout.micro_batch * layout.dp
        whole = [batch // unit for batch in case.batches if batch % unit == 0]
        yield whole and int(count) > min(whole), "no more microbatches than a step has"
    yield kind == "fit" and not case.memory, "device_memory with recompute = fit"
    yield (layout.distribute and kind == "none",
           "distribute_saved_activations with recompute")
    yield (layout.distribute and layout.sp,
           "distribute_saved_activations without sequence_parallel")


def sequence_rules(case):
    layout = case.layout
    yield case.lengths[0] > case.sizes["longest"], "seq_length <= max_seq"
    for length in case.lengths:
        yield layout.cp > 1 and length % (2 * layout.cp) != 0, "seq_length % (2 * cp)"
        yield layout.sp and layout.tp > 1 and length % (layout.cp * layout.tp) != 0, \
            "seq_length % tp" if layout.cp == 1 else "seq_length % (cp * tp)"


def size_rules(case):
    """What tp, or dp, splits it divides."""
    layout, sizes = case.layout, case.sizes
    over_dp = [rest for _, rest in case.overrides if '"dp"' in rest]
    for axis in ("ffn", "heads", "kv_heads"):
        yield (any(f" {axis} =" in rest for rest in over_dp) and sizes[axis] % layout.dp != 0,
               f"{axis} %")
    for axis, key, size in (("heads", "heads %", sizes["heads"]),
                            ("ffn", "ffn %", sizes["ffn"]),
                            ("vocab", "padded_vocab %", sizes["padded"])):
        yield axis not in case.replicated and size % layout.tp != 0, key
    # Ranks that split the heads share those of keys and values.
    yield ("kv-heads" not in case.replicated and "heads" in case.replicated
           and sizes["kv_heads"] % layout.tp != 0), "kv_heads %"


def rules(case):
    """Whether each rule is broken, and words of it."""
    layout = case.layout
    yield from size_rules(case)
    yield (0 < case.per_host < layout.ranks and layout.ranks % case.per_host != 0,
           "ranks % ranks_per_host")
    for batch in case.batches:
        yield batch % (layout.micro_batch * layout.dp) != 0, "global_batch_size %"
    yield "param-gather" in layout.overlap and layout.zero == 0, \
        "zero >= 1 with overlap = param-gather"
    yield (case.dtype == "f32" and any('dtype = "bf16"' in rest for _, rest in case.overrides),
           "dtype = f32, or that of the strategy, in an override")
    yield ("reset-attention" in case.documents and layout.chunks > 1 and layout.dp > 1
           and any('heads = "dp"' in rest for _, rest in case.overrides)), \
        "one chunk a stage with reset_attention and heads over dp"
    yield case.narrow_sums and case.dtype == "f32", "dtype = bf16 with grad_dtype = bf16"
    yield from stage_rules(case)
    yield from recompute_rules(case)
    yield from sequence_rules(case)


def schedule_rules(case):
    """Looked at once all else is well."""
    layout = case.layout
    if layout.schedule == INTERLEAVED:
        for microbatches in case.microbatches:
            yield from interleaving_rules(layout, microbatches)
    elif layout.schedule == OWN:
        yield from own_rules(case)
    else:
        yield layout.chunks > 1, "this schedule has one chunk"


def words_of(found):
    return sorted({words for is_broken, words in found if is_broken})


def broken_rules(case):
    """The words of all rules that a strategy breaks; none: it must train."""
    return words_of(rules(case)) or words_of(schedule_rules(case))


def breaks_schedule(case):
    """Whether the schedule alone cannot be."""
    return not words_of(rules(case)) and bool(words_of(schedule_rules(case)))
