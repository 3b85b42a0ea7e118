"""--set: what is no key, no value or said twice."""

from bad_case import Case, silent

USAGE, INFEASIBLE = 2, 4


def setting(name, texts, says, code=USAGE, options=("--gbs", 2)):
    words = [word for text in texts for word in ("--set", text)]
    return Case("set: " + name, ["compile", "tiny.toml", *options, *words, "-o", "out"], code,
                says)


CASES = [
    setting("an unknown key of each", ["model.layerss=3", "strategy.tpp=2"],
            ["--set model.layerss=3: unknown key 'layerss', did you mean 'layers'?",
             "--set strategy.tpp=2: unknown key 'tpp', did you mean 'tp'?"]),
    setting("an unknown key of a table", ["model.norm.epps=1"],
            ["--set model.norm.epps=1: unknown key 'norm.epps', did you mean 'eps'?"]),
    setting("neither model nor strategy", ["modell.layers=3"],
            ["--set modell.layers=3: unknown key 'modell', did you mean 'model'?"]),
    setting("no value", ["model.layers"],
            ["--set model.layers: not valid TOML", "expected KEY=VALUE, such as model.layers=4"]),
    setting("nothing", [""], ["expected KEY=VALUE"]),
    setting("a head alone", ["model=3"], ["--set model=3: expected model.KEY=VALUE"]),
    setting("a string without quotes", ["strategy.schedule=gpipe"],
            ["a string needs quotes: --set 'strategy.schedule=\"gpipe\"'"]),
    setting("a string that begins like a number", ["strategy.device_memory=80GiB"],
            ["a string needs quotes: --set 'strategy.device_memory=\"80GiB\"'"]),
    setting("what cannot be compiled yet", ['strategy.shard.vocab="dp"', 'model.mlp.kind="relu"'],
            ["--set strategy.shard.vocab=\"dp\": shard: splitting 'vocab' over 'dp'",
             "--set model.mlp.kind=\"relu\": mlp.kind = \"relu\" cannot be compiled yet"]),
    Case("set: a number beyond 64 bits",
         ["compile", "tiny.toml", "--gbs", 2, "--set", "model.layers=99999999999999999999",
          "-o", "out"], USAGE, ["--set model.layers=99999999999999999999: not valid TOML"],
         act=silent("a string needs quotes")),
    setting("a value of another type", ["model.layers=\"two\"", "strategy.zero=true"],
            ["--set model.layers=\"two\": key 'layers': expected an integer",
             "--set strategy.zero=true: key 'zero': expected an integer"]),
    setting("out of range", ["model.layers=0"],
            ["--set model.layers=0: key 'layers'", "the nearest valid value is 1"]),
    setting("a value in the place of a table", ["model.norm=3"],
            ["--set model.norm=3: key 'norm': expected a table"]),
    setting("a table in the place of a value", ["model.layers.x=3"],
            ["--set model.layers.x=3: key 'layers': expected an integer", "found a table"]),
    setting("two that differ", ["model.layers=2", "model.layers=3"],
            ["--set model.layers=3: key 'model.layers': contradicts --set model.layers=2"]),
    setting("a table and a value in it", ["strategy.shard={ffn='none'}", "strategy.shard.ffn='tp'"],
            ["key 'strategy.shard.ffn': contradicts --set strategy.shard={ffn='none'}"]),
    setting("an option says it, too", ["strategy.tp=2"],
            ["--set strategy.tp=2: key 'tp': expected it once, found it with --tp 4 as well"],
            options=("--gbs", 2, "--tp", 4)),
    setting("a key of more tables than a parser can free", ["model." + "a." * 40000 + "b=1"],
            ["levels, found more"]),
    setting("more lists in each other than there are levels", ["model.x=" + "[" * 100 + "]" * 100],
            ["expected keys and lists of at most 64 levels, found more"]),
    setting("several lines", ["model.layers=2\nmodel.ffn=8"], ["expected one line"]),
    setting("what does not fit", ["strategy.tp=3"], ["heads % tp == 0"], INFEASIBLE),
    Case("set: beside IR", ["compile", "saved.mlir", "--set", "strategy.tp=2", "-o", "out"], USAGE,
         ["expected no strategy and no --set with IR"]),
    Case("set: errors of file and settings together",
         ["compile", "bad.toml", "--gbs", 2, "--set", "model.heads=0", "-o", "out"], USAGE,
         ["--set model.heads=0: key 'heads'", "bad.toml:1: unknown key 'nam'"],
         lambda place: place.write("bad.toml", 'nam = "x"\nvocab = 64\nlayers = 2\nhidden = 32\n'
                                               'heads = 4\nffn = 64\nmax_seq = 16\n')),
]
