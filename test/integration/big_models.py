"""The published models: their sizes, and closed forms of what a rank then holds.

Everything here is computed from the sizes that the papers print, never from a spec or
a strategy file, and knows nothing of how the compiler comes to its numbers.
"""

from dataclasses import dataclass, replace

VOCAB = 51200  # padded, in both papers
F32 = 4        # bytes of gradients, moments, main weights and statistics of rows
COMPUTED = {"f32": 4, "bf16": 2}  # bytes of weights and activations
PAGE = 4096    # an arena is whole pages
LOSS = 64      # bytes behind the gradients, one cache line


def whole_pages(size):
    return -(-size // PAGE) * PAGE


@dataclass(frozen=True)
class Model:
    """A row of a paper. Batches are samples, `seq` is tokens of a sample."""
    name: str
    printed: str  # billions of parameters, as the paper prints them
    heads: int
    hidden: int
    layers: int
    seq: int
    tp: int
    pp: int
    ranks: int
    batch: int        # of one step
    micro_batch: int  # of one replica
    chunks: int = 1   # of layers, of each rank (interleaved 1F1B)
    recompute: bool = True  # of all layers
    posted: bool = True     # transfers, ahead of their wait

    def saving_all(self):
        """The same layout, but nothing is computed again and a rank has one chunk."""
        return replace(self, chunks=1, recompute=False, posted=False)

    @property
    def dp(self):
        return self.ranks // (self.tp * self.pp)

    @property
    def microbatches(self):
        return self.batch // (self.dp * self.micro_batch)

    def parameters(self):
        """Narayanan et al. 2021, equation 2, in whole numbers:
        12 l h^2 (1 + 13 / (12 h) + (V + s) / (12 l h)), and the 2 h of the layer norm
        behind the last layer, which the equation leaves out."""
        l, h = self.layers, self.hidden
        return 12 * l * h * h + 13 * l * h + (VOCAB + self.seq) * h + 2 * h

    def rank_parameters(self, stage):
        """Elements of one rank of `stage`. Of a layer's 12 h^2 + 13 h, what is split
        over tp are the matrices and the 7 h biases of column-parallel products; the
        others' 2 h of bias and the norms' 4 h are whole on every rank."""
        h, t = self.hidden, self.tp
        count = self.layers // self.pp * (12 * h * h // t + 7 * h // t + 6 * h)
        if stage == 0:
            count += (VOCAB // t + self.seq) * h
        if stage == self.pp - 1:
            count += 2 * h
            if self.pp > 1:  # the copy of the token embedding that gives the logits
                count += VOCAB // t * h
        return count

    def state_bytes(self, stage, dtype):
        """Arenas of one rank: weights, gradients, and two moments of AdamW, without
        ZeRO; 16 bytes a parameter in f32. In bf16 the optimizer keeps main weights as
        well: 18. On one stage the token embedding is used twice, and each use has a
        gradient of its own."""
        count = self.rank_parameters(stage)
        second_use = VOCAB // self.tp * self.hidden if self.pp == 1 else 0
        kept = 2 if dtype == "f32" else 3
        return {"params": whole_pages(COMPUTED[dtype] * count),
                "grads": whole_pages(F32 * (count + second_use) + LOSS),
                "optimizer": whole_pages(kept * F32 * count)}

    def layer_bytes(self, dtype):
        """What the backward pass of one layer and one microbatch reads.

        Whole on every rank, s b h each: the input of each norm (the residual stream)
        and its output (the input of a product): 4. Split over tp: q, k, v and the
        attention's output, 4, and the input and output of the activation, 4 and 4
        again. A mean and a reciprocal deviation of each row of each norm, and a
        log-sum-exp of each row of each head, in f32. Masks of dropout are made again,
        and the s x s probabilities are never kept."""
        rows = self.seq * self.micro_batch
        if self.recompute:  # its input alone
            return COMPUTED[dtype] * rows * self.hidden
        values = rows * 4 * self.hidden + rows * 12 * self.hidden // self.tp
        return (COMPUTED[dtype] * values
                + F32 * (4 * rows + rows * self.heads // self.tp))

    def chunk_bytes(self, stage, chunk, dtype):
        """Of all layers of a chunk, of tokens (32 bits) and of the loss: input and
        output of the last norm, logits, and of each row the norm's mean and deviation,
        the largest logit and the logarithm of the sum."""
        rows = self.seq * self.micro_batch
        size = self.layers // (self.pp * self.chunks) * self.layer_bytes(dtype)
        if stage == chunk == 0:
            size += 4 * rows
        if stage == self.pp - 1 and chunk == self.chunks - 1:
            size += 4 * rows  # the labels
            size += COMPUTED[dtype] * rows * (2 * self.hidden + VOCAB // self.tp)
            size += F32 * rows * 4
        return size

    def in_flight(self, stage):
        """Microbatches of 1F1B, of each chunk if there are several, whose backward a
        stage waits for at most: one more than the warm-up of Narayanan et al."""
        if self.chunks == 1:
            return min(self.pp - stage, self.microbatches)
        warm_up = 2 * (self.pp - stage - 1) + (self.chunks - 1) * self.pp
        return min(warm_up + 1, self.microbatches * self.chunks)

    def received_in_flight(self, stage):
        """Of these, the ones whose input came from another stage: on the first stage
        all but those of the first chunk, counted over its list of slots."""
        if stage > 0:
            return self.in_flight(stage)
        order = [(k, c) for first in range(0, self.microbatches, self.pp)
                 for c in range(self.chunks)
                 for k in range(first, min(first + self.pp, self.microbatches))]
        warm_up, alive, most = self.in_flight(0) - 1, 0, 0
        for j in range(-warm_up, len(order)):
            forward = order[j + warm_up] if j + warm_up < len(order) else (0, 0)
            alive += forward[1] > 0
            most = max(most, alive)
            if j >= 0:  # the backward of a chunk in the place of its mirror image
                alive -= order[j][1] < self.chunks - 1
        return most

    def activation_bytes(self, stage, dtype, waiting=0):
        """The arena. A value that waits for its exchange has a buffer: the output and
        its gradient towards a next stage, the input's gradient towards the one before.
        Where transfers are posted, a stage makes the next value while one is on its way;
        the last stage has sent its gradient by then.
        (An input that was received is the input of the first layer, counted there.)
        With chunks each stage has a next one and one before, slots for what is saved
        have the size of the largest chunk, and `waiting` more values wait for a stage
        that computes on: no form says how many."""
        message = COMPUTED[dtype] * self.seq * self.micro_batch * self.hidden
        if self.chunks == 1:
            kept = self.in_flight(stage) * self.chunk_bytes(stage, 0, dtype)
            last = stage == self.pp - 1
            buffers = 2 * (not last) + (stage > 0)
            if self.posted:  # one more of each that is sent where a stage works on
                buffers += (not last) + (stage > 0) * (not last)
        else:
            slot = max(self.chunk_bytes(stage, chunk, dtype)
                       - (message if stage + chunk > 0 else 0)
                       for chunk in range(self.chunks))
            kept = (self.in_flight(stage) * slot
                    + self.received_in_flight(stage) * message)
            buffers = 3 + waiting
        return whole_pages(kept + buffers * message)


def megatron(printed, hidden, heads, layers, tp):
    """Shoeybi et al. 2019, table 1: 64 replicas and 512 samples of 1024 tokens."""
    return Model(f"megatron-{printed}b", printed, heads, hidden, layers, 1024, tp, 1,
                 64 * tp, 512, 8)


def sc21(printed, heads, hidden, layers, tp, pp, ranks, batch, micro_batch, chunks=1):
    """Narayanan et al. 2021, table 1: samples of 2048 tokens; the chunks are those of
    the scripts that the authors published with it."""
    return Model(f"sc21-{printed}b", printed, heads, hidden, layers, 2048, tp, pp,
                 ranks, batch, micro_batch, chunks)


MODELS = [
    megatron("1.2", 1536, 16, 40, 1),
    megatron("2.5", 1920, 20, 54, 2),
    megatron("4.2", 2304, 24, 64, 4),
    megatron("8.3", 3072, 32, 72, 8),
    sc21("1.7", 24, 2304, 24, 1, 1, 32, 512, 16),
    sc21("3.6", 32, 3072, 30, 2, 1, 64, 512, 16),
    sc21("7.5", 32, 4096, 36, 4, 1, 128, 512, 16),
    sc21("18.4", 48, 6144, 40, 8, 1, 256, 1024, 8),
    sc21("39.1", 64, 8192, 48, 8, 2, 512, 1536, 4),
    sc21("76.1", 80, 10240, 60, 8, 4, 1024, 1792, 2, 3),
    sc21("145.6", 96, 12288, 80, 8, 8, 1536, 2304, 2, 2),
    sc21("310.1", 128, 16384, 96, 8, 16, 1920, 2160, 1, 2),
    sc21("529.6", 128, 20480, 105, 8, 35, 2520, 2520, 1, 3),
    sc21("1008", 160, 25600, 128, 8, 64, 3072, 3072, 1),
]
