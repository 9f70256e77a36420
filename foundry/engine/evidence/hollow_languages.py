"""Functions that leave at once, by tree-sitter's grammars: every language but Python. Pure.

A language is a `_Language`: its grammar, which nodes are functions, and how one of them is left.
What leaves stands behind a condition where a compiler would refuse code that is never reached.
In the mode `returns` a function is left alone where its type allows no empty answer.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from foundry.engine.evidence.edits import Edit, Hollowed, Lines, Mode, edited, overlaps

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

Leave = Callable[["Node", Mode], Edit | None]
"""The edit by which a function leaves at once, or None where it has to be left alone."""


@dataclass(frozen=True, slots=True)
class _Language:
    """`module` and `loader` name the grammar, `functions` the types of its nodes."""

    module: str
    functions: frozenset[str]
    leave: Leave
    loader: str = "language"


def hollow_by_grammar(path: str, text: str, changed: Lines, mode: Mode) -> Hollowed | None:
    """A source in which every outermost function on the changed lines leaves at once.

    None where there is none, or where no grammar of its language is installed.
    """
    language = _language(path, text)
    parser = _parser(language.module, language.loader) if language else None
    if language is None or parser is None:
        return None
    try:
        source = text.encode()
    except UnicodeEncodeError:
        return None
    edits, names = [], []
    for node in _outermost(parser.parse(source).root_node, language, changed):
        edit = language.leave(node, mode)
        if edit is not None:
            edits.append(edit)
            names.append(_name(node))
    return Hollowed(edited(source, edits).decode(), tuple(names)) if edits else None


def _outermost(root: "Node", language: _Language, changed: Lines) -> Iterator["Node"]:
    """Functions that do something and stand in no other, in order, tests in the code left out."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if not overlaps(changed, node.start_point.row + 1, node.end_point.row + 1):
            continue
        if node.type in _ITEMS and _is_test(node):
            continue
        if node.type in language.functions and (body := _body(node)) is not None:
            if _acts(body) and not node.has_error:
                yield node
            continue
        waiting.extend(reversed(node.children))


def _body(node: "Node") -> "Node | None":
    value = node.child_by_field_name("value")  # of a property of C#
    arrow = value if value is not None and value.type == "arrow_expression_clause" else None
    return node.child_by_field_name("body") or arrow


def _acts(body: "Node") -> bool:
    """Whether a body does anything; an expression always does."""
    braces = body.children and body.children[0].type in ("{", "(")
    return not braces or any(not each.is_extra for each in body.named_children)


_ITEMS = frozenset(["function_item", "mod_item"])


def _is_test(node: "Node") -> bool:
    """Whether an item of Rust is compiled for tests only: they stand beside what they test."""
    before = node.prev_named_sibling
    while before is not None and before.type in ("attribute_item", "line_comment"):
        if before.type == "attribute_item" and re.search(r"\btest\b", _text(before)):
            return True
        before = before.prev_named_sibling
    return False


def _name(node: "Node") -> str:
    """A function's name, or that of what it is assigned to, or its line."""
    holder: Node | None = node.parent if node.type == "accessor_declaration" else node
    while holder is not None:
        for field in ("name", "key", "property", "left"):
            if (found := holder.child_by_field_name(field)) is not None:
                return _text(found)
        holder = holder.parent
        if holder is None or holder.type not in _HOLDERS:
            break
    return f"line {node.start_point.row + 1}"


_HOLDERS = frozenset(
    """variable_declarator pair field_definition public_field_definition assignment_expression
    assignment parenthesized_expression accessor_list property_declaration""".split()  # noqa: SIM905
)


def _text(node: "Node | None") -> str:
    return (node.text or b"").decode() if node is not None else ""


def _contains(node: "Node", *types: str) -> bool:
    """Whether a node of one of these types is below a node."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if found.type in types:
            return True
        waiting.extend(found.children)
    return False


def _enter(body: "Node", statement: str) -> Edit:
    """A statement right behind a body's opening brace."""
    place = body.children[0].end_byte
    return Edit(place, place, f" {statement} ")


# -- JavaScript and TypeScript ---------------------------------------------------------------------


def _leave_script(node: "Node", mode: Mode, nothing: str) -> Edit | None:
    """`if (!0)` keeps what follows reachable for a compiler that refuses what is not."""
    body = _body(node)
    assert body is not None
    constructs = _text(node.child_by_field_name("name")) == "constructor"
    if mode == "raises":
        leave = 'if (!0) throw new Error("hollow");'
    else:
        bare = constructs or any(each.type == "set" for each in node.children)
        leave = "if (!0) return;" if bare else f"if (!0) return {nothing};"
    if body.type != "statement_block":  # an arrow's expression
        return Edit(body.start_byte, body.end_byte, f"{{ {leave} return ({_text(body)}); }}")
    if constructs and _contains(body, "super"):
        return _after_super(body, leave, mode)
    return _enter(body, leave)


def _after_super(body: "Node", leave: str, mode: Mode) -> Edit | None:
    """A derived constructor may throw before `super(...)`, but it can't return."""
    for statement in body.named_children:
        if statement.type == "expression_statement" and _text(statement).startswith("super("):
            return Edit(statement.end_byte, statement.end_byte, f"; {leave}")
    return _enter(body, leave) if mode == "raises" else None


def _leave_javascript(node: "Node", mode: Mode) -> Edit | None:
    return _leave_script(node, mode, "undefined")


def _leave_typescript(node: "Node", mode: Mode) -> Edit | None:
    # `never` fits every type, and changes none that is inferred
    return _leave_script(node, mode, "undefined as never")


# -- languages with declared results ---------------------------------------------------------------


def _leave_go(node: "Node", mode: Mode) -> Edit | None:
    body = _body(node)
    assert body is not None
    if mode == "raises":
        return _enter(body, 'panic("hollow");')
    result = node.child_by_field_name("result")
    if result is None:
        return _enter(body, "return;")
    if result.type != "parameter_list":
        return _enter(body, f"return *new({_text(result)});")
    if any(each.child_by_field_name("name") for each in result.named_children):
        return _enter(body, "return;")
    types = [each.child_by_field_name("type") for each in result.named_children]
    return _enter(body, f"return {', '.join(f'*new({_text(each)})' for each in types)};")


def _leave_rust(node: "Node", mode: Mode) -> Edit | None:
    body = _body(node)
    assert body is not None
    result = node.child_by_field_name("return_type")
    if mode == "returns" and result is not None and result.type != "unit_type":
        return None
    leave = 'panic!("hollow")' if mode == "raises" else "return"
    place = body.children[0].end_byte
    for each in body.named_children:
        if each.type == "inner_attribute_item":
            place = each.end_byte
    return Edit(place, place, f" if true {{ {leave}; }} ")


_JAVA_NUMBERS = frozenset(["byte", "short", "int", "long", "char", "float", "double"])


def _leave_java(node: "Node", mode: Mode) -> Edit | None:
    """Constructors can't return before their final fields are assigned."""
    body = _body(node)
    assert body is not None
    type_ = _text(node.child_by_field_name("type"))
    if mode == "raises":
        leave = 'throw new RuntimeException("hollow");'
    elif not type_:
        return None
    elif type_ == "void":
        leave = "return;"
    else:
        number = type_ in _JAVA_NUMBERS
        leave = f"return {'0' if number else 'false' if type_ == 'boolean' else 'null'};"
    leave = f"if (true) {leave}"
    first = body.named_children[0] if body.named_children else None
    if first is not None and first.type == "explicit_constructor_invocation":
        return Edit(first.end_byte, first.end_byte, f" {leave}")
    return _enter(body, leave)


def _leave_csharp(node: "Node", mode: Mode) -> Edit | None:
    """The condition is none that a compiler computes: code never reached is a warning there."""
    body = _body(node)
    assert body is not None
    result = _csharp_result(node)
    returning = "" if result in _CSHARP_NOTHING else result
    if mode == "raises":
        leave = 'throw new global::System.Exception("hollow");'
    elif not result or result.startswith("ref ") or re.search(r"\bout\b", _text(_parameters(node))):
        return None
    elif _contains(body, "yield_statement"):
        leave = "yield break;"
    else:
        leave = "return default;" if returning else "return;"
    leave = f'if ("".Length == 0) {leave}'
    if body.type == "block":
        return _enter(body, leave)
    expression = body.named_children[-1]
    if expression.type in ("throw_expression", "ref_expression"):
        return None
    kept = f"{'return ' if returning else ''}{_text(expression)};"
    block = f"{{ {leave} {kept} }}"
    if node.type in ("property_declaration", "indexer_declaration"):
        block = f"{{ get {block} }}"
    return Edit(body.start_byte, node.end_byte, block)


_CSHARP_NOTHING = frozenset(["", "void", "Task", "ValueTask"])


def _csharp_result(node: "Node") -> str:
    """The type that a function declares; empty for constructors."""
    if node.type == "accessor_declaration":
        if node.children and not any(_text(each) == "get" for each in node.children):
            return "void"
        owner = node.parent.parent if node.parent is not None else None
        return _text(owner.child_by_field_name("type")) if owner is not None else ""
    declared = node.child_by_field_name("returns") or node.child_by_field_name("type")
    result = _text(declared)
    is_async = any(_text(each) == "async" for each in node.children if each.type == "modifier")
    # without `async` a Task is a value like any other
    return "object" if result in ("Task", "ValueTask") and not is_async else result


def _parameters(node: "Node") -> "Node | None":
    return node.child_by_field_name("parameters")


# -- languages without -----------------------------------------------------------------------------


def _leave_ruby(node: "Node", mode: Mode) -> Edit | None:
    """Exception and no child of it: a method's own `rescue` stands around all of its body."""
    body = _body(node)
    assert body is not None
    if body.type != "body_statement":  # def name = expression
        leave = 'raise(Exception, "hollow")' if mode == "raises" else "nil"
        return Edit(body.start_byte, body.end_byte, f"({leave} && ({_text(body)}))")
    leave = 'raise Exception, "hollow"; ' if mode == "raises" else "return; "
    return Edit(body.start_byte, body.start_byte, leave)


def _leave_php(node: "Node", mode: Mode) -> Edit | None:
    body = _body(node)
    assert body is not None
    if mode == "raises":
        return _enter(body, 'throw new \\RuntimeException("hollow");')
    result = _text(node.child_by_field_name("return_type")).lower()
    if result in ("", "void") or _contains(body, "yield_expression"):
        return _enter(body, "return;")
    nullable = result.startswith("?") or result == "mixed" or "null" in result.split("|")
    return _enter(body, "return null;") if nullable else None


def _leave_shell(node: "Node", mode: Mode) -> Edit | None:
    body = _body(node)
    assert body is not None
    if body.type not in ("compound_statement", "subshell"):
        return None
    return _enter(body, "exit 1;" if mode == "raises" else "return 0;")


# -- which is which --------------------------------------------------------------------------------

_SCRIPT_FUNCTIONS = frozenset(
    """function_declaration function_expression arrow_function method_definition
    generator_function generator_function_declaration""".split()  # noqa: SIM905
)
_JAVASCRIPT = _Language("tree_sitter_javascript", _SCRIPT_FUNCTIONS, _leave_javascript)
_TYPESCRIPT = _Language(
    "tree_sitter_typescript", _SCRIPT_FUNCTIONS, _leave_typescript, "language_typescript"
)
_TSX = _Language("tree_sitter_typescript", _SCRIPT_FUNCTIONS, _leave_typescript, "language_tsx")
_GO = _Language(
    "tree_sitter_go",
    frozenset(["function_declaration", "method_declaration", "func_literal"]),
    _leave_go,
)
_RUST = _Language("tree_sitter_rust", frozenset(["function_item"]), _leave_rust)
_JAVA = _Language(
    "tree_sitter_java",
    frozenset(["method_declaration", "constructor_declaration", "compact_constructor_declaration"]),
    _leave_java,
)
_CSHARP = _Language(
    "tree_sitter_c_sharp",
    frozenset(
        """method_declaration constructor_declaration local_function_statement operator_declaration
        conversion_operator_declaration accessor_declaration property_declaration
        indexer_declaration""".split()  # noqa: SIM905
    ),
    _leave_csharp,
)
_RUBY = _Language("tree_sitter_ruby", frozenset(["method", "singleton_method"]), _leave_ruby)
_PHP = _Language(
    "tree_sitter_php",
    frozenset(["function_definition", "method_declaration", "anonymous_function"]),
    _leave_php,
    "language_php",
)
_SHELL = _Language("tree_sitter_bash", frozenset(["function_definition"]), _leave_shell)

_BY_SUFFIX: Mapping[str, _Language] = {
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), _JAVASCRIPT),
    **dict.fromkeys((".ts", ".mts", ".cts"), _TYPESCRIPT),
    **dict.fromkeys((".sh", ".bash", ".ksh", ".zsh"), _SHELL),
    **dict.fromkeys((".rb", ".rake", ".gemspec"), _RUBY),
    **{".tsx": _TSX, ".go": _GO, ".rs": _RUST, ".java": _JAVA, ".cs": _CSHARP, ".php": _PHP},
}
_BY_SHEBANG = re.compile(r"#![^\n]*\b(?:(node|bun)|(ruby)|(php)|((?:ba|da|k|z|a)?sh))\b")


def _language(path: str, text: str) -> _Language | None:
    if suffix := PurePosixPath(path).suffix.lower():
        return None if path.endswith(".d.ts") else _BY_SUFFIX.get(suffix)
    shebang = _BY_SHEBANG.match(text)
    if shebang is None or shebang.lastindex is None:
        return None
    return (_JAVASCRIPT, _RUBY, _PHP, _SHELL)[shebang.lastindex - 1]


@cache
def _parser(module: str, loader: str) -> "Parser | None":
    """A grammar's parser, or None where it is not installed."""
    try:
        from tree_sitter import Language, Parser

        return Parser(Language(getattr(import_module(module), loader)()))
    except ImportError:
        return None
