"""Commands parse flags, make one call and show its result: their files stay short."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

import autoj.cli

FILES = sorted(Path(autoj.cli.__file__).parent.glob("*.py"))
MOST_LINES, MOST_LOGIC = 150, 1200
_LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


def logic_lines(text: str) -> int:
    """Lines of code without imports, docstrings, parameters and what a module declares."""
    tree = ast.parse(text)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {
        line
        for token in tokens
        if token.type not in _LAYOUT
        for line in range(token.start[0], token.end[0] + 1)
    }
    left_out: list[ast.AST] = [
        node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) or is_text(node):
            left_out.append(node)
        elif isinstance(node, ast.FunctionDef):
            left_out += [*node.args.args, *node.args.kwonlyargs, *node.args.defaults]
    return len(code - {line for node in left_out for line in lines_of(node)})


def is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def lines_of(node: ast.AST) -> range:
    return range(node.lineno, node.end_lineno + 1)  # type: ignore[attr-defined]


def test_no_command_is_longer_than_a_page_or_two() -> None:
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in FILES}
    assert {name: n for name, n in lengths.items() if n > MOST_LINES} == {}


def test_all_commands_together_hold_little_logic() -> None:
    assert sum(logic_lines(path.read_text("utf-8")) for path in FILES) < MOST_LOGIC
