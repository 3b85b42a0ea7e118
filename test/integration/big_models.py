"""The published models: their sizes, and closed forms of what a rank then holds.

Everything here is computed from the sizes that the papers print, never from a spec or
a strategy file, and knows nothing of how the compiler comes to its numbers.
"""

from dataclasses import dataclass, replace

VOCAB = 51200  # padded, in three of the papers
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
    printed: str  # billions of parameters, as the paper prints them; "": it has others
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
    recompute: str = "full"
    posted: bool = True     # transfers, ahead of their wait
    sp: bool = False        # the residual stream is split over tp
    zero: int = 0
    vocab: int = VOCAB
    ffn: int = 0            # 0: four times the hidden size
    tied: bool = True       # the token embedding gives the logits
    norm_parameters: int = 2  # of an element; 1 without a bias
    ends: int = 0           # layers of the first and the last stage; 0: as the others
    kv_heads: int = 0       # a multiple of tp; 0: as many as heads

    def saving_all(self):
        """The same layout, but nothing is computed again and a rank has one chunk."""
        return replace(self, chunks=1, recompute="none", posted=False)

    @property
    def inner(self):
        return self.ffn or 4 * self.hidden

    @property
    def kv_hidden(self):
        """The width of keys, and of values."""
        return self.hidden * (self.kv_heads or self.heads) // self.heads

    @property
    def residual_parts(self):
        """Ranks that the residual stream is split over."""
        return self.tp if self.sp else 1

    def layers_of(self, stage):
        if not self.ends:
            return self.layers // self.pp
        between = (self.layers - 2 * self.ends) // (self.pp - 2)
        return self.ends if stage in (0, self.pp - 1) else between

    @property
    def dp(self):
        return self.ranks // (self.tp * self.pp)

    @property
    def microbatches(self):
        return self.batch // (self.dp * self.micro_batch)

    def parameters(self):
        """In whole numbers. With an MLP four times as wide, norms with a bias and one
        table for tokens and logits it is equation 2 of Narayanan et al. 2021,
        12 l h^2 (1 + 13 / (12 h) + (V + s) / (12 l h)), and the 2 h of the layer norm
        behind the last layer, which the equation leaves out."""
        h, tables = self.hidden, 1 if self.tied else 2
        return (self.layers * self.layer_parameters(1) + tables * self.vocab * h
                + self.seq * h + self.norm_parameters * h)

    def layer_parameters(self, t):
        """Of a layer, on one of `t` ranks. Split are the matrices, of attention 4 h^2 (2 of
        them for keys and values, less with fewer heads of these) and of the MLP 2 h f, and
        the 3 h + f biases of column-parallel products; the others' 2 h of bias and the two
        norms are whole on every rank."""
        h, f, kv = self.hidden, self.inner, self.kv_hidden
        return ((2 * h * h + 2 * h * kv + 2 * h * f) // t + (h + 2 * kv + f) // t + 2 * h
                + 2 * self.norm_parameters * h)

    def rank_parameters(self, stage):
        """Elements of one rank of `stage`."""
        h, t = self.hidden, self.tp
        count = self.layers_of(stage) * self.layer_parameters(t)
        if stage == 0:
            count += (self.vocab // t + self.seq) * h
        if stage == self.pp - 1:
            count += self.norm_parameters * h
            # A tied table is there a second time on another stage.
            if self.pp > 1 or not self.tied:
                count += self.vocab // t * h
        return count

    def state_bytes(self, stage, dtype):
        """Arenas of one rank: weights, gradients, and two moments of AdamW, without
        ZeRO; 16 bytes a parameter in f32. In bf16 the optimizer keeps main weights as
        well: 18. Under ZeRO-2 a rank has its part of gradients and states alone: at
        least what is told here, and no per cent more. On one stage the token embedding is used twice, and each use has a
        gradient of its own."""
        count = self.rank_parameters(stage)
        shared = self.pp == 1 and self.tied
        second_use = self.vocab // self.tp * self.hidden if shared else 0
        kept = 2 if dtype == "f32" else 3
        parts = self.dp if self.zero == 2 else 1
        return {"params": whole_pages(COMPUTED[dtype] * count),
                "grads": whole_pages(F32 * (count + second_use) // parts + LOSS),
                "optimizer": whole_pages(kept * F32 * count // parts)}

    def layer_bytes(self, dtype):
        """What the backward pass of one layer and one microbatch reads.

        s b h each, whole on every rank if the residual stream is: the input of each norm
        (the residual stream) and its output (the input of a product): 4. Split over tp:
        q, k, v and the attention's output, 4, and the input and output of the
        activation, as wide as the MLP. A mean (where there is one) and a reciprocal
        deviation of each row of each norm, and a log-sum-exp of each row of each head,
        in f32. Masks of dropout are made again, and the s x s probabilities are never
        kept. `selective` makes the attention's output and its log-sum-exp again."""
        rows, again = self.seq * self.micro_batch, self.recompute == "selective"
        if self.recompute == "full":  # its input alone
            return COMPUTED[dtype] * rows * self.hidden // self.residual_parts
        values = (rows * 4 * self.hidden // self.residual_parts
                  + rows * ((1 if again else 2) * self.hidden + 2 * self.kv_hidden
                            + 2 * self.inner) // self.tp)
        statistics = 2 * self.norm_parameters * rows // self.residual_parts
        if not again:
            statistics += rows * self.heads // self.tp
        return COMPUTED[dtype] * values + F32 * statistics

    def chunk_bytes(self, stage, chunk, dtype):
        """Of all layers of a chunk, of tokens (32 bits) and of the loss: input and
        output of the last norm, logits, and of each row the norm's mean and deviation,
        the largest logit and the logarithm of the sum."""
        rows, parts = self.seq * self.micro_batch, self.residual_parts
        size = self.layers_of(stage) // self.chunks * self.layer_bytes(dtype)
        if stage == chunk == 0:
            size += 4 * rows
        if stage == self.pp - 1 and chunk == self.chunks - 1:
            size += 4 * rows  # the labels
            size += COMPUTED[dtype] * rows * (2 * self.hidden // parts
                                              + self.vocab // self.tp)
            size += F32 * (2 * rows + self.norm_parameters * rows // parts)
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
        message = (COMPUTED[dtype] * self.seq * self.micro_batch * self.hidden
                   // self.residual_parts)
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


def mlsys23(name, printed, heads, hidden, layers, pp, batch, micro_batch, chunks=1):
    """Korthikanti et al. 2022, table 3: one replica, the residual stream split along the
    sequence, and what attention makes computed again."""
    return Model(f"mlsys23-{name}", printed, heads, hidden, layers, 2048, 8, pp, 8 * pp,
                 batch, micro_batch, chunks, recompute="selective", sp=True)


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
    mlsys23("22b", "22", 64, 6144, 48, 1, 4, 4),
    mlsys23("175b", "175", 96, 12288, 96, 8, 64, 1, 3),
    mlsys23("530b", "530", 128, 20480, 105, 35, 280, 1, 3),
    mlsys23("1t", "", 160, 25600, 128, 64, 512, 1),
    # Zheng et al. 2023: 1,536 ranks, ZeRO-2 over 192 replicas.
    Model("codegeex-13b", "13", 40, 5120, 40, 2048, 8, 1, 1536, 3072, 16, zero=2,
          vocab=52224),
    # Grattafiori et al. 2024, table 4: 16,384 ranks; a layer less at both ends.
    Model("llama3-405b-shape", "", 128, 16384, 126, 8192, 8, 16, 16384, 2048, 1,
          recompute="none", sp=True, zero=2, vocab=128256, ffn=53248, tied=False,
          norm_parameters=1, ends=7, kv_heads=8),
]
