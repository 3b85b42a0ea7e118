"""torch_step.py OUT.jsonl [seconds]: the PyTorch baseline on one GPU (GPT-2 training steps)."""
import gc, json, os, sys, time
T0 = time.time()
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "16")
OUT = open(sys.argv[1], "a", buffering=1)
LIMIT = float(sys.argv[2]) if len(sys.argv) > 2 else 145.0
PEAK = 989.4e12


def emit(**kw):
    kw["t"] = round(time.time() - T0, 1)
    OUT.write(json.dumps(kw) + "\n")
    OUT.flush()
    os.fsync(OUT.fileno())


def left():
    return LIMIT - (time.time() - T0)


try:
    import torch
    import torch._dynamo
    import torch.nn as nn
    import torch.nn.functional as F
except Exception as e:
    emit(step="import", error=repr(e)[:500])
    sys.exit(0)
if not torch.cuda.is_available():
    emit(step="import", error="torch has no CUDA device", torch=torch.__version__)
    sys.exit(0)

DEV = torch.device("cuda")
VOCAB, SEQ = 50304, 1024
MODELS = {"124M": (12, 768, 12), "774M": (36, 1280, 20), "1558M": (48, 1600, 25)}


class Embed(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.wte = nn.Embedding(VOCAB, h)
        self.wpe = nn.Embedding(SEQ, h)

    def forward(self, idx):
        pos = torch.arange(idx.shape[1], device=idx.device)
        return self.wte(idx) + self.wpe(pos)


class Block(nn.Module):
    def __init__(self, h, heads):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(h)
        self.qkv = nn.Linear(h, 3 * h)
        self.proj = nn.Linear(h, h)
        self.ln2 = nn.LayerNorm(h)
        self.fc = nn.Linear(h, 4 * h)
        self.out = nn.Linear(4 * h, h)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln1(x)).split(C, dim=2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(B, T, C))
        return x + self.out(F.gelu(self.fc(self.ln2(x)), approximate="tanh"))


class Head(nn.Module):
    def __init__(self, h, weight):
        super().__init__()
        self.ln = nn.LayerNorm(h)
        self.weight = weight

    def forward(self, x, tgt):
        logits = F.linear(self.ln(x), self.weight)
        return F.cross_entropy(logits.view(-1, VOCAB).float(), tgt.view(-1))


class GPT(nn.Module):
    def __init__(self, L, h, heads):
        super().__init__()
        self.embed = Embed(h)
        self.blocks = nn.ModuleList([Block(h, heads) for _ in range(L)])
        self.head = Head(h, self.embed.wte.weight)

    def forward(self, idx, tgt):
        x = self.embed(idx)
        for b in self.blocks:
            x = b(x)
        return self.head(x, tgt)


def build(L, h, heads, dtype):
    with torch.device(DEV):
        m = GPT(L, h, heads)
    with torch.no_grad():
        for n, p in m.named_parameters():
            if p.dim() >= 2:
                p.normal_(0.0, 0.02 / ((2 * L) ** 0.5) if ("proj" in n or ".out." in n) else 0.02)
            elif "ln" in n and n.endswith("weight"):
                p.fill_(1.0)
            else:
                p.zero_()
    return m.to(dtype)


def category(name):
    n = name.lower()
    if "flash" in n or "fmha" in n or "sdpa" in n or "attention" in n:
        return "attention bwd" if any(s in n for s in ("bwd", "bprop", "backward", "dot_do_o", "convert_dq", "dgrad")) else "attention fwd"
    if any(s in n for s in ("nvjet", "gemm", "xmma", "cublas", "splitk", "gemv")):
        return "gemm"
    if "multi_tensor" in n or "fusedadam" in n or "lpnorm" in n or "foreach" in n:
        return "optimizer and clipping"
    if "triton" in n and ("log_softmax" in n or "nll" in n or "logsumexp" in n or "cross_entropy" in n):
        return "loss"
    if "triton" in n:
        return "norm and pointwise"
    if "embedding" in n or "indexing_backward" in n or "sort" in n:
        return "embedding"
    if "cutlass" in n:
        return "gemm"
    if "memcpy" in n or "memset" in n:
        return "copy and set"
    if "elementwise" in n or "reduce_kernel" in n or "layer_norm" in n:
        return "norm and pointwise"
    return "other"


def profile(step):
    from torch.profiler import ProfilerActivity, profile as prof_
    with prof_(activities=[ProfilerActivity.CUDA]) as p:
        step()
        torch.cuda.synchronize()
    cats, rows, total = {}, [], 0.0
    for e in p.key_averages():
        us = float(getattr(e, "self_device_time_total", 0.0) or 0.0)
        if us <= 0 or e.key.startswith("cuda") or e.key.startswith("cu") and "Launch" in e.key:
            continue
        c = category(e.key)
        cats[c] = cats.get(c, 0.0) + us
        total += us
        rows.append((us, e.count, c, e.key[:140]))
    rows.sort(reverse=True)
    return {k: round(v / 1e3, 3) for k, v in sorted(cats.items(), key=lambda kv: -kv[1])}, round(total / 1e3, 3), [[round(r[0] / 1e3, 3), r[1], r[2], r[3]] for r in rows[:28]]


def run(model, batch, precision="bf16master", graph="regional", sdpa=None, steps=15, prof=True):
    L, h, heads = MODELS[model]
    name = dict(model=model, batch=batch, precision=precision, compile=graph, sdpa=sdpa or "default")
    torch._dynamo.reset()
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    t = time.time()
    torch.manual_seed(1)
    auto = precision == "autocast"
    m = build(L, h, heads, torch.float32 if auto else torch.bfloat16)
    params = list(m.parameters())
    N = sum(p.numel() for p in params)
    idx = torch.randint(0, 50257, (batch, SEQ + 1), device=DEV)
    x, y = idx[:, :-1].contiguous(), idx[:, 1:].contiguous()
    if auto:
        masters = params
    else:
        masters = [p.detach().float().clone().requires_grad_(True) for p in params]
        g32 = [torch.empty_like(q) for q in masters]
        for q, g in zip(masters, g32):
            q.grad = g
        data = [p.detach() for p in params]
    groups = [dict(params=[q for q in masters if q.dim() >= 2], weight_decay=0.1), dict(params=[q for q in masters if q.dim() < 2], weight_decay=0.0)]
    opt = torch.optim.AdamW(groups, lr=3e-4, betas=(0.9, 0.95), eps=1e-8, fused=True)
    if graph == "regional":
        m.embed.compile(dynamic=False)
        for b in m.blocks:
            b.compile(dynamic=False)
        m.head.compile(dynamic=False)
        fwd = m
    elif graph == "full":
        fwd = torch.compile(m, dynamic=False)
    else:
        fwd = m
    from contextlib import nullcontext
    if sdpa:
        from torch.nn.attention import SDPBackend, sdpa_kernel

    def context():
        return sdpa_kernel([getattr(SDPBackend, sdpa)]) if sdpa else nullcontext()

    def step():
        with context():
            if auto:
                with torch.autocast("cuda", dtype=torch.bfloat16):
                    loss = fwd(x, y)
            else:
                loss = fwd(x, y)
        loss.backward()
        with torch.no_grad():
            if auto:
                torch.nn.utils.clip_grad_norm_(params, 1.0, foreach=True)
                opt.step()
                opt.zero_grad(set_to_none=True)
            else:
                grads = [p.grad for p in params]
                norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(grads, 2.0, dtype=torch.float32)))
                coef = (1.0 / (norm + 1e-6)).clamp(max=1.0)
                torch._foreach_copy_(g32, grads)
                torch._foreach_mul_(g32, coef)
                opt.step()
                torch._foreach_copy_(data, masters)
                for p in params:
                    p.grad = None
        return loss.detach()

    first = step()
    torch.cuda.synchronize()
    compile_s = time.time() - t
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    ev = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    w = time.time()
    ev[0].record()
    for i in range(steps):
        last = step()
        ev[i + 1].record()
    host = time.time() - w
    torch.cuda.synchronize()
    wall = time.time() - w
    ms = sorted(ev[i].elapsed_time(ev[i + 1]) for i in range(steps))
    med = ms[steps // 2]
    tok = batch * SEQ
    att = 12 * L * h * SEQ
    n_nopos = N - SEQ * h
    tps = tok / med * 1e3
    emit(step="train", **name, params=N, median_ms=round(med, 3), min_ms=round(ms[0], 3), max_ms=round(ms[-1], 3), wall_ms=round(wall * 1e3 / steps, 3), host_ms=round(host * 1e3 / steps, 3), tokens_s=round(tps), mfu_6N_12Lhs=round((6 * N + att) * tps / PEAK, 4), mfu_6N_causal=round((6 * N + att / 2) * tps / PEAK, 4), mfu_6N_nopos_12Lhs=round((6 * n_nopos + att) * tps / PEAK, 4), peak_alloc_gb=round(torch.cuda.max_memory_allocated() / 2**30, 2), peak_reserved_gb=round(torch.cuda.max_memory_reserved() / 2**30, 2), first_step_s=round(compile_s, 1), loss_first=round(float(first), 4), loss_last=round(float(last), 4))
    if prof and left() > 4:
        try:
            cats, total, rows = profile(step)
            emit(step="profile", **name, total_ms=total, categories=cats, top=rows)
        except Exception as e:
            emit(step="profile", **name, error=repr(e)[:500])


def bandwidth():
    n = 2 << 30
    a = torch.empty(n // 4, dtype=torch.float32, device=DEV).normal_()
    b = torch.empty_like(a)

    def t(fn, reps=10):
        fn(); fn()
        e0, e1 = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        e0.record()
        for _ in range(reps):
            fn()
        e1.record()
        torch.cuda.synchronize()
        return e0.elapsed_time(e1) / reps
    ms = t(lambda: b.copy_(a))
    mul = t(lambda: torch.mul(a, 1.0, out=b))
    red = t(lambda: a.sum())
    fil = t(lambda: b.fill_(1.0))
    emit(step="bandwidth", bytes=n, memcpy_d2d_ms=round(ms, 4), memcpy_tb_s=round(2 * n / ms / 1e9, 3), elementwise16_ms=round(mul, 4), elementwise16_tb_s=round(2 * n / mul / 1e9, 3), read_sum_tb_s=round(n / red / 1e9, 3), fill_tb_s=round(n / fil / 1e9, 3))
    del a, b
    x = torch.randn(8192, 8192, device=DEV, dtype=torch.bfloat16)
    y = torch.randn(8192, 8192, device=DEV, dtype=torch.bfloat16)
    ms = t(lambda: x @ y)
    emit(step="gemm", shape="8192^3 bf16", ms=round(ms, 4), tflops=round(2 * 8192**3 / ms / 1e9, 1))


def attention():
    from torch.nn.attention import SDPBackend, sdpa_kernel
    for model, B in (("124M", 32), ("1558M", 4)):
        L, h, heads = MODELS[model]
        for be in ("FLASH_ATTENTION", "CUDNN_ATTENTION"):
            try:
                q, k, v = [torch.randn(B, heads, SEQ, 64, device=DEV, dtype=torch.bfloat16, requires_grad=True) for _ in range(3)]
                g = torch.randn(B, heads, SEQ, 64, device=DEV, dtype=torch.bfloat16)
                with sdpa_kernel([getattr(SDPBackend, be)]):
                    f, bw = [], []
                    for i in range(12):
                        e = [torch.cuda.Event(enable_timing=True) for _ in range(3)]
                        e[0].record()
                        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
                        e[1].record()
                        torch.autograd.grad(o, (q, k, v), g)
                        e[2].record()
                        torch.cuda.synchronize()
                        f.append(e[0].elapsed_time(e[1]))
                        bw.append(e[1].elapsed_time(e[2]))
                fm, bm = sorted(f)[4], sorted(bw)[4]
                fl = 4 * B * heads * SEQ * SEQ * 64 / 2
                emit(step="attention", model=model, batch=B, backend=be, fwd_ms=round(fm, 4), bwd_ms=round(bm, 4), fwd_tflops_causal=round(fl / fm / 1e9, 1), bwd_tflops_causal=round(2.5 * fl / bm / 1e9, 1))
            except Exception as e:
                emit(step="attention", model=model, backend=be, error=repr(e)[:300])


def main():
    torch.set_float32_matmul_precision("high")
    for k in ("recompile_limit", "cache_size_limit"):
        try:
            setattr(torch._dynamo.config, k, 64)
        except Exception:
            pass
    p = torch.cuda.get_device_properties(0)
    emit(step="device", name=p.name, sms=p.multi_processor_count, memory=p.total_memory, torch=torch.__version__, cuda=torch.version.cuda, cudnn=torch.backends.cudnn.version(), nccl=str(torch.cuda.nccl.version()), cpus=os.cpu_count(), what="bf16master: bf16 parameters, gradients and residual, fp32 master and AdamW state, clip by foreach; autocast: fp32 parameters and residual. regional: embed, each block and head compiled apart; full: the whole model")
    for fn in (bandwidth, attention):
        try:
            fn()
        except Exception as e:
            emit(step=fn.__name__, error=repr(e)[:500])
    # (seconds that must be left, arguments)
    plan = [
        (10, dict(model="124M", batch=32)),
        (10, dict(model="774M", batch=8)),
        (10, dict(model="1558M", batch=4)),
        (10, dict(model="1558M", batch=8)),
        (10, dict(model="124M", batch=32, sdpa="CUDNN_ATTENTION")),
        (35, dict(model="124M", batch=32, graph="full")),
        (10, dict(model="774M", batch=16)),
        (10, dict(model="124M", batch=16)),
        (10, dict(model="124M", batch=32, precision="autocast")),
        (10, dict(model="1558M", batch=8, sdpa="CUDNN_ATTENTION")),
        (10, dict(model="774M", batch=4)),
        (10, dict(model="124M", batch=8)),
        (10, dict(model="1558M", batch=2)),
        (10, dict(model="1558M", batch=4, precision="autocast")),
        (10, dict(model="124M", batch=64)),
    ]
    for need, kw in plan:
        if left() < need:
            emit(step="skipped", **kw, why="time")
            continue
        try:
            run(**kw)
        except Exception as e:
            emit(step="train", **kw, error=(type(e).__name__ + ": " + str(e))[:900])
            e = None
        gc.collect()
        torch.cuda.empty_cache()
    emit(step="end")


main()
OUT.flush()
os._exit(0)
