"""What a command would do, piece by piece: simple commands, redirections, assignments.

Pieces hidden in substitutions, wrappers, functions and here-documents count like the others; the
order that they run in does not matter, except that `cd` moves where later paths lead from.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from foundry.permission.globs import MANY
from foundry.permission.operation import Operation
from foundry.permission.resolved_path import PathResolver
from foundry.permission.shell_commands import Commands, Folders, after_cd, either, opaque
from foundry.permission.shell_syntax import (
    Tree,
    Unreadable,
    numbers_in,
    readings,
    refuse_expansions,
    substitutions,
)
from foundry.permission.shell_values import (
    MOST_ROUNDS,
    Setting,
    bare,
    chained,
    items,
    offset,
    settings,
    value,
)
from foundry.permission.shell_wrappers import Words

DEEPEST = 8
"""How many shells inside each other are looked into."""

_NOTHING: Mapping[str, str] = MappingProxyType({})


def command_operations(command: str, resolver: PathResolver) -> tuple[Operation, ...]:
    """The pieces of a command as `sh` runs it in the project's root, under every reading."""
    return tuple(dict.fromkeys(_script_operations(command, "sh", (resolver.root,), resolver, 0)))


def _script_operations(
    text: str,
    shell: str,
    folders: Folders,
    resolver: PathResolver,
    depth: int,
    sure: Mapping[str, str] = _NOTHING,
    perhaps: Mapping[str, str] = _NOTHING,
) -> list[Operation]:
    if depth > DEEPEST:
        return [opaque(text, "its shells are too deeply nested")]
    operations: list[Operation] = []
    try:
        for dialect, tree in readings(text, shell):
            reader = _Reader(resolver, dialect, folders, depth)
            reader.knows(sure, perhaps)
            reader.script(tree)
            operations += reader.operations
    except Unreadable as error:
        operations.append(opaque(text, str(error)))
    except RecursionError:
        operations.append(opaque(text, "it is too deeply nested"))
    return operations


class _Reader(Commands):
    """Walks a tree and gathers its operations."""

    def __init__(self, resolver: PathResolver, dialect: str, folders: Folders, depth: int) -> None:
        super().__init__(resolver, dialect, folders)
        self._depth = depth
        self._settings: Mapping[int, Setting] = {}
        self._rounds = 1

    def script(self, tree: Tree) -> None:
        """Gather the operations of a whole text."""
        try:
            refuse_expansions(tree, numbers_in(tree), self._dialect)
        except Unreadable as error:
            self.operations.append(opaque("(an expansion)", str(error)))
        self._settings = settings(tree)
        self._statements(tree.get("Stmts", []))

    def _inner_script(self, shell: str, text: str, *, here: bool) -> list[Operation]:
        known = (self._sure, self._perhaps) if here else ()
        return _script_operations(
            text, shell, self._folders, self._resolver, self._depth + 1, *known
        )

    def _statements(self, nodes: Iterable[Tree]) -> None:
        for node in nodes:
            with self._subshell(bool(node.get("Background"))):
                for redirection in node.get("Redirs", []):
                    self._redirected(redirection)
                if "Cmd" in node:
                    self._command(node["Cmd"])

    def _command(self, node: Tree) -> None:
        kind = node["Type"]
        if gather := _KINDS.get(kind):
            gather(self, node)
        else:
            self.operations.append(opaque(kind, f"{kind} is nothing that can be judged here"))

    def _call(self, node: Tree) -> None:
        self._substituted(node)
        for assign in node.get("Assigns", []):
            self._assigned(assign)
            if setting := self._settings.get(offset(assign)):
                self._settle(assign, perhaps=setting.perhaps)
        if words := self._words(node.get("Args", [])):
            self._simple(words)

    def _settle(self, assign: Tree, *, perhaps: bool | None) -> None:
        """A variable holds what is assigned from here on: surely, perhaps, or (None) no longer."""
        name, text = assign["Name"]["Value"], value(assign, self._spelled_surely)
        for values, kept in ((self._sure, perhaps is False), (self._perhaps, perhaps is True)):
            values.pop(name, None)
            if kept and text:
                values[name] = text

    def _declaration(self, node: Tree) -> None:
        self._substituted(node)
        for argument in node.get("Args", []):
            self._assigned(argument)
        self._add((node["Variant"]["Value"],))

    def _redirected(self, node: Tree) -> None:
        self._substituted({key: node[key] for key in ("Word", "Hdoc") if key in node})
        self._redirection(node["Op"], node.get("Word", {}))

    # -- what holds other commands -----------------------------------------------------------

    def _binary(self, node: Tree) -> None:
        match node["Op"]:
            case "&&":
                self._chain([*chained(node["X"]), node["Y"]])
            case "||":
                self._statements([node["X"]])
                before = self._folders
                self._statements([node["Y"]])
                self._folders = either(before, self._folders)
            case _:
                for side in (node["X"], node["Y"]):
                    with self._subshell(True):
                        self._statements([side])

    def _chain(self, statements: list[Tree]) -> None:
        """`a && b && c`: each runs only where the `cd` before it has led to."""
        anywhere = self._folders
        for statement in statements:
            before = self._folders
            self._statements([statement])
            if words := self._cd(statement):
                self._folders = after_cd(words, before, self._resolver)
            anywhere = either(anywhere, self._folders)
        self._folders = anywhere
        for assign in (assign for statement in statements for assign in bare(statement)):
            if setting := self._settings.get(offset(assign)):
                self._settle(assign, perhaps=setting.after_perhaps)

    def _cd(self, statement: Tree) -> Words:
        """The words of a statement that is a `cd` and nothing else."""
        node = statement.get("Cmd", {})
        if node.get("Type") != "CallExpr" or statement.get("Background"):
            return ()
        words = self._words(node.get("Args", []))
        return words if words[:1] == ("cd",) else ()

    def _group(self, node: Tree) -> None:
        with self._subshell(node["Type"] == "Subshell"):
            self._statements(node.get("Stmts", []))

    def _if(self, node: Tree) -> None:
        self._statements([*node.get("Cond", []), *node.get("Then", [])])
        if "Else" in node:
            self._if(node["Else"])

    def _while(self, node: Tree) -> None:
        self._repeated([*node.get("Cond", []), *node.get("Do", [])])

    def _function(self, node: Tree) -> None:
        self._repeated([node["Body"]])

    def _timed(self, node: Tree) -> None:
        self._statements([node["Stmt"]] if node.get("Stmt") else [])

    def _for(self, node: Tree) -> None:
        loop = node.get("Loop", {})
        self._substituted(loop)
        name = loop.get("Name", {}).get("Value", "")
        self._set(name, MANY)
        settled = loop.get("Type") == "WordIter" and offset(loop) in self._settings
        rounds = items(self._words(loop["Items"]), MOST_ROUNDS // self._rounds) if settled else ()
        if not rounds:
            self._repeated(node.get("Do", []))
            return
        self._rounds *= len(rounds)
        for each in rounds:
            self._sure[name] = each
            self._repeated(node.get("Do", []))
        self._rounds //= len(rounds)
        del self._sure[name]

    def _case(self, node: Tree) -> None:
        self._substituted(node.get("Word", {}))
        for item in node.get("Items", []):
            self._substituted({"Patterns": item.get("Patterns", [])})
            self._statements(item.get("Stmts", []))

    def _repeated(self, nodes: list[Tree]) -> None:
        """A body that may run many times: what moves in there may move anywhere."""
        before, count = self._folders, len(self.operations)
        self._statements(nodes)
        if self._folders != before:
            del self.operations[count:]
            self._folders = None
            self._statements(nodes)
            self._folders = None

    def _substituted(self, node: Tree) -> None:
        for statements in substitutions(node):
            with self._subshell(True):
                self._statements(statements)


_KINDS = {
    "CallExpr": _Reader._call,
    "DeclClause": _Reader._declaration,
    "BinaryCmd": _Reader._binary,
    "Block": _Reader._group,
    "Subshell": _Reader._group,
    "IfClause": _Reader._if,
    "WhileClause": _Reader._while,
    "ForClause": _Reader._for,
    "CaseClause": _Reader._case,
    "FuncDecl": _Reader._function,
    "TimeClause": _Reader._timed,
    "TestClause": _Reader._substituted,
    "ArithmCmd": _Reader._substituted,
    "LetClause": _Reader._substituted,
}
