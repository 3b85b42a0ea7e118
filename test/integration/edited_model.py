"""A shipped model whose imported IR a test edits, as a person would."""

import os

import corpus
from run_layout import without_locations


class EditedModel:
    """Its files lie in `folder`: `data` to train on, and what methods name."""

    def __init__(self, mtc, spec, folder):
        self.mtc, self.spec, self.folder = mtc, spec, folder
        self.data = self.path("data.bin")
        corpus.write(self.data)

    def path(self, name):
        return os.path.join(self.folder, name)

    def edit(self, name, layout, change):
        """A file with the IR of a layout, which `change` made of that of import."""
        file = self.path(f"{name}.mlir")
        self.mtc.call("compile", self.spec, *layout.options(), "--compile-to", "import", "-o",
                      file)
        with open(file) as text:
            edited = change(without_locations(text.read()))
        with open(file, "w") as text:
            text.write(edited)
        return file

    def train(self, name, file, steps, dumps):
        """The log of a run of the bundle of `file`, and the folder of what it dumped."""
        bundle, out = self.path(f"{name}-bundle"), self.path(f"{name}-run")
        self.mtc.call("compile", file, "-o", bundle)
        log = self.mtc.run(bundle, ["--data", self.data, "--data-type", "u8", "--steps", steps],
                           out, dumps=dumps)
        return log, out
