"""What `mtc run` and `mtc checkpoint` do with checkpoints that are there, damaged, of
another model or of none."""

import json
import os
import shutil
import signal
import subprocess
import time

import checkpoints

STOPPED_SAVED, NONE_WHOLE, REJECTED, USAGE, DIFFER = 9, 19, 3, 2, 10


def damage(path):
    if not os.path.exists(path):
        return  # what lacks is reported where it was to be written
    with open(path, "r+b") as file:
        file.seek(-8, os.SEEK_END)
        byte = file.read(1)
        file.seek(-8, os.SEEK_END)
        file.write(bytes([byte[0] ^ 16]))


class Policies:
    """`resume` has compile() and run() (test_resume.py)."""

    def __init__(self, resume, bundle, other):
        self.resume, self.mtc, self.report = resume, resume.mtc, resume.report
        self.bundle, self.other = bundle, other
        self.folder = resume.path("policies")
        resume.run(bundle, 3, "--checkpoints", self.folder, "--save-interval", 1)

    def call(self, name, code, says, *arguments):
        done = self.mtc.call(*arguments, check=False)
        self.report.expect(done.returncode == code, f"{name}: expected exit code {code}, found "
                           f"{done.returncode}: {done.stderr}")
        for text in says:
            self.report.expect(text in done.stderr + done.stdout,
                               f"{name}: expected {text!r} in {done.stderr!r}")
        return done

    def train(self, name, code, says, folder, *options, bundle=None, steps=4):
        return self.call(name, code, says, "run", bundle or self.bundle, "--data",
                         self.resume.path("data"), "--data-type", "u8", "--steps", steps,
                         "--quiet", "--checkpoints", folder, *options)

    def copy(self):
        folder = self.resume.path("copy")
        shutil.rmtree(folder, ignore_errors=True)
        return shutil.copytree(self.folder, folder)

    def of(self, folder, step, name):
        return os.path.join(checkpoints.of_step(folder, step), name)

    def damaged(self):
        folder = self.copy()
        damage(self.of(folder, 3, "rank00002.safetensors"))
        os.remove(self.of(folder, 2, "manifest.json"))
        os.mkdir(os.path.join(folder, "step-00000009.tmp-somebody"))
        self.call("verify", REJECTED, ["step-00000001: whole", "rank00002.safetensors",
                                       "manifest.json", "2 of 3"], "checkpoint", "verify", folder)
        passed = ["a checkpoint is not whole", "rank00002.safetensors", "manifest.json"]
        file = self.resume.path("passed.safetensors")
        self.call("export of the one before", 0, passed, "checkpoint", "export", folder, file)
        with open(file, "rb") as exported:
            self.report.expect(b'"step":"1"' in exported.read(4096), "expected those of step 1")
        self.call("diff with the one before", 0, passed, "checkpoint", "diff", folder,
                  checkpoints.of_step(folder, 1))
        self.train("two damaged", 0, ["a checkpoint is not whole", "rank00002.safetensors",
                                      "manifest.json"], folder, "--resume")
        self.report.expect(checkpoints.steps(folder) == [1, 2, 3, 4]
                           and not [n for n in os.listdir(folder) if "tmp" in n],
                           f"expected four checkpoints, found {os.listdir(folder)}")
        self.call("pruned", 0, ["step-00000004: kept", "step-00000001: kept"],
                  "checkpoint", "prune", folder, "--keep", 2)
        for step in (1, 4):  # the others are not whole already
            damage(self.of(folder, step, "manifest.json"))
        self.train("all damaged", NONE_WHOLE, ["none of them is whole"], folder, "--resume")

    def renamed(self):
        """A folder that is called by another step is whole for nobody."""
        folder = self.copy()
        other = checkpoints.of_step(folder, 9)
        os.rename(checkpoints.of_step(folder, 3), other)
        says = ["step-00000009", "expected step 9", "it is of step 3"]
        self.call("renamed: verify", REJECTED, [*says, "1 of 3"], "checkpoint", "verify", folder)
        self.call("renamed: info", REJECTED, says, "checkpoint", "info", other)
        self.call("renamed: load", REJECTED, ["--load", *says], "run", self.bundle, "--data",
                  self.resume.path("data"), "--data-type", "u8", "--quiet", "--steps", 4,
                  "--load", other)
        self.train("renamed: resume", 0, ["a checkpoint is not whole", *says], folder, "--resume")
        self.call("renamed: prune", 0, [*says, "step-00000004: kept", "step-00000001: removed"],
                  "checkpoint", "prune", folder, "--keep", 1)
        self.report.expect(checkpoints.steps(folder) == [4, 9],
                           f"expected steps 4 and 9, found {checkpoints.steps(folder)}")

    def of_another_name(self, bundle):
        """The same tensors, of a model that is called otherwise."""
        says = ["step-00000003' is of the model 'hops', and the bundle of 'others'"]
        folder = self.copy()
        self.train("another name: load", 0, says, self.resume.path("called"), "--load", folder,
                   bundle=bundle)
        self.train("another name: resume", 0, says, folder, "--resume", bundle=bundle)
        done = self.train("its own name", 0, [], folder, "--resume", bundle=bundle, steps=5)
        self.report.expect("of the model" not in done.stderr,
                           f"expected no word of a model in {done.stderr!r}")

    def misused(self):
        self.train("without --resume", USAGE, ["earlier run, the last of step 3", "--resume"],
                   self.folder)
        self.train("another model", REJECTED, ["another model", "exp_avg/layers.3"],
                   self.copy(), "--resume", bundle=self.other)
        self.train("fewer steps", USAGE, ["step 3"], self.copy(), "--resume", steps=2)
        for what, says in ((("--dump", "params@2", self.resume.path("dump")), "--dump params@2"),
                           (("--trace", self.resume.path("t.json"), "--trace-step", 3),
                            "t.json' is of step 3")):
            self.train("one of a step before what is loaded", USAGE, [says, "behind step 3"],
                       self.resume.path("new"), "--load", self.folder, *what)
        self.train("nothing to load", REJECTED, ["expected a checkpoint", "none"],
                   self.resume.path("new"), "--load", self.resume.path("nowhere"))
        self.train("begins anew", 0, ["no checkpoint", "begins anew"],
                   self.resume.path("new"), "--resume", steps=1)
        self.call("no folder", USAGE, ["--checkpoints DIR"], "run", self.bundle, "--resume")
        self.call("no checkpoint", REJECTED, ["expected a checkpoint"], "checkpoint", "info",
                  self.resume.folder)

    def stopped(self):
        folder = self.resume.path("stopped")
        command = [self.mtc.program, "run", self.bundle, "--data", self.resume.path("data"),
                   "--data-type", "u8", "--steps", 10 ** 7, "--quiet", "--checkpoints", folder,
                   "--save-interval", 5]
        process = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end and not (
                os.path.isdir(folder) and checkpoints.steps(folder)):
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[1]
        last = checkpoints.steps(folder)[-1]
        self.report.expect(process.returncode == STOPPED_SAVED and f"step-{last:08}" in said,
                           f"expected exit code {STOPPED_SAVED} and step {last}, found "
                           f"{process.returncode}: {said}")
        self.train("goes on", 0, [], folder, "--resume", steps=last + 1)
        self.report.expect(checkpoints.steps(folder)[-1] == last + 1, "expected one step more")

    def raced(self):
        """Readers of a run that removes each checkpoint when it has written the next."""
        live = self.resume.path("live")
        data = ["--data", self.resume.path("data"), "--data-type", "u8", "--quiet"]
        run = subprocess.Popen(list(map(str, [
            self.mtc.program, "run", self.other, *data, "--steps", 10 ** 7, "--checkpoints", live,
            "--save-interval", 1, "--keep", 1])), stderr=subprocess.DEVNULL)
        self.wait(run, lambda: os.path.isdir(live) and checkpoints.steps(live))
        load = ["run", self.other, *data, "--eval", 1, "--load", live, "--comm"]
        for name, *command in (("evaluated", *load, "shm"), ("evaluated", *load, "threads"),
                               ("exported", "checkpoint", "export", live, live + ".file"),
                               ("verified", "checkpoint", "verify", live),
                               ("compared", "checkpoint", "diff", live, live, "--json")):
            for _ in range(3):
                done = self.mtc.call(*command, check=False)
                code = (0, DIFFER) if name == "compared" else (0,)
                self.report.expect(done.returncode in code and "warning" not in done.stderr,
                                   f"{name} beside a run: {done.returncode}, {done.stderr}")
        self.report.expect(run.poll() is None, "expected the run beside it to go on")
        run.send_signal(signal.SIGTERM)
        run.wait(timeout=60)
        self.report.expect(len(checkpoints.steps(live)) == 1, "expected all others to be "
                           f"removed at the end, found {checkpoints.steps(live)}")

    def asked(self):
        """SIGUSR1, twice, of a run that goes on; then it is stopped."""
        for comm, *options in (("shm",), ("threads", "--async-save"), ("shm", "--async-save")):
            name = " ".join(["asked", comm, *options])
            folder = self.resume.path(name.replace(" ", "_"))
            command = [self.mtc.program, "run", self.bundle, "--data",
                       self.resume.path("data"), "--data-type", "u8", "--steps", 10 ** 7,
                       "--quiet", "--comm", comm, "--log", folder + ".log", "--checkpoints",
                       folder, *options]
            process = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE,
                                       text=True)
            self.wait(process, lambda: os.path.exists(folder + ".log")
                      and os.path.getsize(folder + ".log"))
            for count in (1, 2):
                process.send_signal(signal.SIGUSR1)
                self.wait(process, lambda: len(checkpoints.steps(folder)) == count)
            process.send_signal(signal.SIGTERM)
            said = process.communicate(timeout=60)[1]
            found = checkpoints.steps(folder)
            self.report.expect(process.returncode == STOPPED_SAVED and len(found) == 3,
                               f"{name}: expected exit code {STOPPED_SAVED} and three "
                               f"checkpoints, found {process.returncode}, {found}: {said}")
            self.call(name, 0, [], "checkpoint", "verify", folder)

    @staticmethod
    def wait(process, condition):
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end and not condition():
            time.sleep(0.005)

    def ended(self):
        folder = self.resume.path("ended")
        options = ["--resume", "--exit-interval", 3]
        self.train("exit interval", STOPPED_SAVED, ["ended after step 3", "step-00000003"],
                   folder, *options, steps=7)
        self.train("exit interval, again", STOPPED_SAVED, ["ended after step 6"], folder,
                   *options, steps=7)
        self.train("exit interval, the rest", 0, [], folder, *options, steps=7)
        self.report.expect(checkpoints.steps(folder) == [3, 6, 7],
                           f"expected steps 3, 6 and 7, found {checkpoints.steps(folder)}")
        self.train("exit duration", STOPPED_SAVED, ["ended after step 8"], folder, "--resume",
                   "--exit-duration-in-mins", 1e-6, steps=1000)

    def same_line(self):
        """One command line starts a run, continues it and finds it done: what it orders of steps
        that are past stays as it was written then."""
        dumps, trace = self.resume.path("dumps"), self.resume.path("trace.json")
        past = ["behind step 4: the dump init (", "the dump grads@2 (", "the trace of steps 2 to 3 ("]
        options = ["--resume", "--exit-interval", 4, "--dump", "init", dumps, "--dump", "grads@2",
                   dumps, "--profile", trace, "--profile-step-start", 2, "--profile-step-end", 3]
        files = [trace, *(os.path.join(dumps, f"{name}.safetensors")
                          for name in ("init", "grads@2"))]

        def written():
            return [open(file, "rb").read() for file in files]

        folder = self.resume.path("same_line")
        self.train("one line: starts", STOPPED_SAVED, [], folder, *options, steps=6)
        first = written()
        self.train("one line: continues", 0, past, folder, *options, steps=6)
        self.train("one line: is done", 0, ["the dump init (", "nothing is left to train"], folder,
                   *options, steps=6)
        self.report.expect(written() == first, "what was written of past steps has changed")
        self.train("the last step's trace of a run that is done", 0,
                   ["the trace of step 6 (", "nothing is left to train"], folder, "--resume",
                   "--trace", trace, steps=6)
        self.report.expect(written() == first, "a trace of a step that is past was written")

    def looked_at(self):
        a, b = (checkpoints.of_step(self.folder, step) for step in (1, 2))
        self.call("diff of one", 0, [], "checkpoint", "diff", a, a)
        self.call("diff", DIFFER, ["param/embed.tokens: ", "elements differ"], "checkpoint",
                  "diff", a, b)
        info = json.loads(self.call("info", 0, [], "checkpoint", "info", self.folder,
                                    "--json").stdout)
        self.report.expect([each["step"] for each in info] == [1, 2, 3],
                           f"expected three steps, found {info}")

    def batches(self, bundle, single):
        """Other samples a step: the run goes on where the data are. The loss of step 4 is that
        of an evaluation of these samples on the parameters of step 3."""
        file = self.resume.path("exported.safetensors")
        self.call("export", 0, [], "checkpoint", "export", self.folder, file)
        log = self.resume.run(bundle, 4, "--load", self.folder)
        told = json.loads(self.call(
            "evaluation", 0, [], "run", single, "--eval", 1, "--eval-first", 3 * 16, "--data",
            self.resume.path("data"), "--data-type", "u8", "--quiet", "--init-from",
            file).stdout)
        self.report.expect(abs(told["eval_loss"] - log[-1]["loss"]) < 2e-6 * log[-1]["loss"],
                           f"expected the loss {told['eval_loss']}, found {log[-1]['loss']}")
        self.report.expect(log[-1]["step"] == 4 and log[-1]["tokens"] == (3 * 16 + 8) * 16,
                           f"expected step 4 behind {(3 * 16 + 8) * 16} tokens, found {log}")

    def all(self):
        self.damaged()
        self.renamed()
        self.misused()
        self.stopped()
        self.raced()
        self.asked()
        self.ended()
        self.same_line()
        self.looked_at()
