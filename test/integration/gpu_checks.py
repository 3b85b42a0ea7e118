"""What bundles for a GPU are held to, under the stand-ins and on a GPU."""

import precision

# Of losses, norms and gradients. f32: the same sums in another order. bf16: that moves a
# product by a unit in its last place, 2^-8, now and then; a loss is a mean over 512 tokens.
# The same of two layouts on the CPU: test_matrix.py.
BOUNDS = {"f32": (1e-6, 1e-5, 1e-4), "bf16": (1e-3, 1e-2, 2e-2),
          precision.SUMS: (1e-3, 1e-2, 2e-2), "fp16": (1e-4, 1e-3, 5e-3)}
# Heads of 64 elements: kernels that need more shared memory than every launch may have.
SMALL = {"name": "small", "vocab": 250, "padded": 256, "layers": 2, "hidden": 128, "heads": 2,
         "ffn": 128, "longest": 32, "norm": "layer_norm", "dropout": 0.1, "qkv": "fused"}
