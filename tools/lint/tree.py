"""What the lints share: the files of the repository, and how to say what is wrong."""

import pathlib
import subprocess
import sys

CODE = {".h", ".cpp", ".cu", ".td", ".py"}


def files(root):
    """All files that belong to the repository, relative to `root`, sorted: what git
    tracks, or without git everything but build folders and hidden ones."""
    root = pathlib.Path(root)
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True,
                                capture_output=True, text=True).stdout.split("\0")
        paths = [pathlib.Path(name) for name in listed if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [path.relative_to(root) for path in root.rglob("*")]
        paths = [path for path in paths if not any(
            part.startswith((".git", "build", "__pycache__")) for part in path.parts)]
    return sorted(path for path in paths if (root / path).is_file())


def text(path):
    """The content of a text file, None if the file is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def main(check, rule):
    """Runs `check(root)`, which yields one sentence per violation, and exits."""
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    problems = list(check(root))
    for problem in problems:
        print(problem)
    if problems:
        print(f"{len(problems)} violation(s) of: {rule}")
    sys.exit(1 if problems else 0)
