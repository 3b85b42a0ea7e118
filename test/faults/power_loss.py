"""What may be on disk after the power failed, from a log of what was done to files.

Files and folders keep what their last fsync found. Of what was done since, the disk has
anything: of a file nothing, all, the first half, or zeros in place of it; of a folder any of
its changes of names, one by one. States are the plain ones and those that deviate in one
thing; a rename is done or not done.
"""

import os


class File:
    def __init__(self):
        self.now, self.durable = bytearray(), b""

    def write(self, offset, data):
        self.now.extend(bytes(max(0, offset - len(self.now))))
        self.now[offset:offset + len(data)] = data

    def sync(self):
        self.durable = bytes(self.now)

    def states(self):
        """What it may hold; the first is what a disk that lost nothing has."""
        now = bytes(self.now)
        half = now[:len(now) // 2]
        zeros = self.durable + bytes(max(0, len(now) - len(self.durable)))
        return list(dict.fromkeys([now, self.durable, half, zeros]
                                  if now != self.durable else [now]))


class Folder:
    def __init__(self):
        self.now, self.durable, self.changes = {}, {}, []

    def change(self, names):
        """Names, each with what it stands for from here on; None: nothing."""
        self.changes.append(names)
        self.now = applied(self.now, [names])

    def sync(self):
        self.durable, self.changes = dict(self.now), []

    def states(self):
        """The names that it may have; the first is what a disk that lost nothing has."""
        some = [[], *([one] for one in self.changes),
                *(self.changes[:i] + self.changes[i + 1:] for i in range(len(self.changes)))]
        found = [self.now]
        for changes in some:
            names = applied(self.durable, changes)
            if names not in found:
                found.append(names)
        return found


def applied(names, changes):
    names = dict(names)
    for change in changes:
        for name, node in change.items():
            if node is None:
                names.pop(name, None)
            else:
                names[name] = node
    return names


class Disk:
    """Of one folder, which is there whatever happens."""

    def __init__(self, root):
        self.root_path, self.root = root.rstrip("/"), Folder()

    def find(self, path):
        """The folder, the name in it, and what that stands for now."""
        parts = [p for p in path[len(self.root_path):].split("/") if p]
        folder = self.root
        for part in parts[:-1]:
            folder = folder.now[part]
        name = parts[-1] if parts else None
        return folder, name, folder.now.get(name) if name else self.root

    def apply(self, op):
        folder, name, node = self.find(op.path)
        if op.name == "create":
            if node is None:
                folder.change({name: File()})
        elif op.name == "mkdir":
            folder.change({name: Folder()})
        elif op.name == "write":
            node.write(op.offset, op.data)
        elif op.name in ("fsync", "fdatasync"):
            node.sync()
        elif op.name in ("unlink", "rmdir"):
            folder.change({name: None})
        elif op.name == "rename":
            to, other, _ = self.find(op.other)
            if to is not folder:
                raise ValueError(f"a rename between folders: {op.path}")
            folder.change({name: None, other: node})

    def nodes(self):
        """All that some state may have."""
        found, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            if any(node is other for other in found):
                continue
            found.append(node)
            if isinstance(node, Folder):
                waiting += [*node.now.values(), *node.durable.values()]
        return found

    def states(self):
        """Choices of a state by node (as a list of pairs): nothing lost, all lost, and each
        deviation of one node from either."""
        nodes = self.nodes()
        options = [(node, node.states()) for node in nodes]
        lost = [(node, self.durable(node)) for node in nodes]
        yield []
        yield lost
        for node, states in options:
            for state in states[1:]:
                yield [(node, state)]
            for state in states:
                yield [(node, state)] + [pair for pair in lost if pair[0] is not node]

    @staticmethod
    def durable(node):
        return node.durable

    def write(self, choices, path):
        """Makes a state as files in the empty folder `path`."""
        self.write_node(self.root, choices, path)

    def write_node(self, node, choices, path):
        state = next((s for n, s in choices if n is node), node.now)
        if isinstance(node, File):
            with open(path, "wb") as file:
                file.write(state)
            return
        os.makedirs(path, exist_ok=True)
        for name, child in state.items():
            self.write_node(child, choices, os.path.join(path, name))


class Op:
    def __init__(self, line, data):
        number, self.name, offset, size, self.path, self.other = line.rstrip("\n").split("\t")
        self.number, self.offset = int(number), int(offset)
        self.data = data.read(int(size))


def read_log(path):
    open(path + ".data", "ab").close()  # there is none if nothing was written
    with open(path) as lines, open(path + ".data", "rb") as data:
        return [Op(line, data) for line in lines]
