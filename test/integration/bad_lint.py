"""What mtc lint is given and cannot take, and strategies that do not fit."""

from bad_case import Case, silent

USAGE, REJECTD, INFEASIBLE = 2, 3, 4
LINT = ["lint", "tiny.toml"]


def lint(name, given, code, says, make=None):
    command = [*LINT, *given.split()]
    return Case("lint: " + name, command, code, says, *([make] if make else []))


CASES = [
    Case("lint: no spec", ["lint"], USAGE, ["spec", "mtc lint --help"]),
    Case("lint: IR", ["lint", "saved.mlir"], USAGE, ["expected a spec, found IR", "saved.mlir"]),
    Case("lint: a folder", ["lint", "one"], REJECTD, ["one", "a folder"]),
    Case("lint: a spec that is none", ["lint", "gpt2-nanno"], REJECTD,
         ["did you mean 'gpt2-nano'?"]),
    lint("a strategy that is none", "tp2-pp2-dp3", REJECTD, ["did you mean 'tp2-pp2-dp2'?"]),
    lint("errors of file and options together", "s.toml --dtype f33 --zero 9", USAGE,
         ["s.toml:1", "did you mean 'dp'?", "--dtype", "did you mean 'f32'?", "--zero"],
         lambda place: place.write("s.toml", "dpp = 2\n")),
    lint("no ranks", "--gbs 2 --ranks 0", USAGE, ["--ranks", "'0'"]),
    lint("ranks that are no number", "--gbs 2 --ranks many", USAGE, ["--ranks", "'many'"]),
    lint("less than no tries", "--gbs 2 --tries -1", USAGE, ["--tries", "'-1'"]),
    lint("memory that is none", "--gbs 2 --device-memory lots", USAGE,
         ["--device-memory", "80GiB", "lots"]),
    lint("ranks that tp does not divide", "--gbs 6 --tp 2 --ranks 3", INFEASIBLE,
         ["expected ranks % (tp * cp * pp) == 0, found ranks = 3, tp * cp * pp = 2",
          "it holds with tp = 1", "all rules hold with one of\n  --tp 1"]),
    Case("lint: ranks that leave a rest, and no rule of replicas",
         [*LINT, "--ranks", 7, "--tp", 2, "--gbs", 8], INFEASIBLE,
         ["expected ranks % (tp * cp * pp) == 0, found ranks = 7, tp * cp * pp = 2"], act=silent("dp = 3")),
    lint("ranks that nothing divides", "--gbs 4 --tp 2 --ranks 3", INFEASIBLE,
         ["ranks = 3, tp * cp * pp = 2; nearest: ranks = 2 or 4"]),
    lint("dp beside ranks", "--gbs 4 --tp 2 --dp 2 --ranks 8", INFEASIBLE,
         ["expected tp * cp * dp * pp == ranks, found ranks = 8, tp * cp * dp * pp = 4",
          "it holds with tp = 4; cp = 2; dp = 4; pp = 2"]),
    lint("more ranks than there can be", "--gbs 4 --ranks 9223372036854775807", INFEASIBLE,
         ["ranks = 9223372036854775807"]),
    lint("all rules at once", "--gbs 3 --mbs 2 --tp 3 --pp 5 --recompute layers=7 --seq 99",
         INFEASIBLE,
         ["heads % tp == 0, found heads = 4, tp = 3; it holds with tp = 1, 2 or 4",
          "global_batch_size % (micro_batch_size * dp)", "layers >= pp",
          "seq_length <= max_seq", "recompute = layers=N"]),
    lint("the least recompute that fits nothing", "--gbs 2 --recompute fit", INFEASIBLE,
         ["expected device_memory with recompute = fit",
          "it holds with recompute = none, selective,"]),
    lint("not even all recompute fits", "--gbs 2 --recompute fit --device-memory 1KiB --tries 0",
         INFEASIBLE, ["expected at most 1024", "recompute = fit: full", "no policy fits"]),
    lint("no strategy fits", "--gbs 2 --device-memory 1KiB", INFEASIBLE,
         ["stage 0: expected at most 1024 bytes per rank (device_memory)"]),
    Case("lint: JSON of what is no text", [*LINT, "--gbs", 2, "--json", "--dtype", "x\udcff"], USAGE,
         ["--dtype: key 'dtype': expected one of f32, fp16, bf16"]),
    Case("lint: a schedule file with a deadlock",
         ["lint", "gpt2-nano", "--pp", 2, "--gbs", 2, "--schedule", "./mine.txt"], INFEASIBLE,
         ["stages wait for each other", "it holds with schedule = gpipe, 1f1b,",
          "all rules hold with one of\n  --schedule gpipe\n"],
         lambda place: place.write("mine.txt", "F0 B0 F1 B1\nF1 F0 B0 B1\n")),
    Case("lint: a schedule file of other microbatches",
         ["lint", "gpt2-nano", "--pp", 2, "--gbs", 4, "--schedule", "./mine.txt"], INFEASIBLE,
         ["expected at least 8 slots on each stage (microbatches 4, chunks 1, forward and backward)",
          "it holds with dp = 2; micro_batch_size = 2; global_batch_size = 2; schedule = gpipe"],
         lambda place: place.write("mine.txt", "F0 F1 B0 B1\nF0 B0 F1 B1\n")),
    Case("lint: a long schedule file of other microbatches",
         ["lint", "gpt2-nano", "--gbs", 5000, "--schedule", "./mine.txt"], INFEASIBLE,
         ["slot 10000: F5000: expected a microbatch of 0 to 4999 (10000 such slots in the line)"],
         lambda place: place.write("mine.txt", " ".join(f"F{i} B{i}" for i in range(10000)))),
    Case("lint: a schedule file of noise",
         ["lint", "gpt2-nano", "--gbs", 2, "--schedule", "./mine.txt"], INFEASIBLE,
         ["line 1: stage 0 slot 0", "\\x01", "such words in the line)", "it holds with schedule = "],
         lambda place: place.write("mine.txt", bytes(range(256)) * 64)),
    Case("lint: a schedule file that is not there",
         ["lint", "gpt2-nano", "--gbs", 2, "--schedule", "./mine.txt"], REJECTD,
         ["./mine.txt: cannot read the file: No such file or directory"]),
    lint("no tries", "--gbs 2 --device-memory 1KiB --tries 0", INFEASIBLE, ["expected at most 1024"]),
]
