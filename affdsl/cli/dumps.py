"""The IR before and after passes, on the standard error output, as mlir-opt's `--mlir-print-ir-...` show it."""

from __future__ import annotations

from affdsl.cli.files import complain
from affdsl.cli.flags import CommandLine, UsageError
from affdsl.cli.text import Style, show
from affdsl.frozen import FrozenValue, replace
from affdsl.ir.messages import nearest
from affdsl.passes.pipeline.manager import Event, Observer, Root
from affdsl.passes.pipeline.registry import BY_NAME


class Dumps(FrozenValue):
    """Which dumps are asked for; `before` and `after` name passes, None means all of them."""

    style: Style
    before: frozenset[str] | None
    after: frozenset[str] | None
    only_changed: bool
    only_failed: bool
    whole: bool

    @classmethod
    def of(cls, line: CommandLine, style: Style) -> Dumps:
        """What a command line asks for. Raises UsageError for a pass that is not known."""
        return cls(
            style,
            _passes(line, "before"),
            _passes(line, "after"),
            line.on("mlir-print-ir-after-change"),
            line.on("mlir-print-ir-after-failure"),
            line.on("mlir-print-ir-module-scope"),
        )

    def observer(self) -> Observer | None:
        """What prints as passes run on root; None where nothing is to be printed."""
        if self.before == self.after == frozenset() and not self.only_failed:
            return None
        return _Printer(self).tell


def _passes(line: CommandLine, when: str) -> frozenset[str] | None:
    return None if line.on(f"mlir-print-ir-{when}-all") else listed_passes(line, f"mlir-print-ir-{when}")


def listed_passes(line: CommandLine, flag: str) -> frozenset[str]:
    """The passes that a flag names. Raises UsageError for what is none."""
    names = line.listed(flag)
    for name in names:
        if name not in BY_NAME:
            raise UsageError(
                f"affdsl opt: for the --{flag} option: there is no pass '{name}'" + nearest(name, [*BY_NAME])
            )
    return frozenset(names)


class _Printer:
    """Prints the events of one run."""

    def __init__(self, dumps: Dumps) -> None:
        self.dumps = dumps
        self.old = ""

    def tell(self, event: Event) -> None:
        dumps, name = self.dumps, event.step.name
        match event.when:
            case "before":
                if dumps.only_changed:
                    self.old = self._exact(event.op)
                if dumps.before is None or name in dumps.before:
                    self._print("Before", event)
            case "after":
                wanted = dumps.after is None or name in dumps.after
                changed = not dumps.only_changed or self._exact(event.op) != self.old
                if wanted and changed and not dumps.only_failed:
                    self._print("After", event)
            case "failed":
                if dumps.only_failed or dumps.after is None or name in dumps.after:
                    self._print("After", event, failed=True)

    def _exact(self, op: Root) -> str:
        return show(op, Style(generic=True, locations=True, local_scope=True))

    def _print(self, when: str, event: Event, *, failed: bool = False) -> None:
        row, op, root = event.step.row, event.op, event.root()
        style = replace(self.dumps.style, generic=self.dumps.style.generic or failed)
        title = f"// -----// IR Dump {when} {row.title}{' Failed' if failed else ''} ({row.name})"
        if self.dumps.whole:
            symbol: str = op.symbol
            title += f" ('{op.name}' operation{f': @{symbol}' if symbol else ''})"
            op = root
        elif op is not root:
            style = replace(style, local_scope=True)
        complain(f"{title} //----- //\n{show(op, style)}")
