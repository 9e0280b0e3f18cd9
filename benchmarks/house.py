"""The house in figures: what the code's structure costs a reader, counted from its syntax.

    python -m benchmarks.house

prints lines, the share of imports and lists of names, the logic of the commands, names that several
modules or classes share, first lines of docstrings that ask a question, and the walk of a case from
`autoj judge` to its prompt (`benchmarks/frames.py`).
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import autoj
from benchmarks.frames import walk

PACKAGE = Path(autoj.__file__).parent
QUESTION = re.compile(r"(What|How|Whether|Where|Which|Who|When|Why)\b")
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
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node):
            left_out.append(node)
        elif isinstance(node, ast.FunctionDef):
            left_out += [*node.args.args, *node.args.kwonlyargs, *node.args.defaults]
    return len(code - {line for node in left_out for line in _lines_of(node)})


def import_lines(tree: ast.Module) -> int:
    """Lines of imports and of `__all__`."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__")
    ]
    return sum(len(_lines_of(node)) for node in found)


def first_lines(tree: ast.Module) -> Iterator[str]:
    """The first lines of a module's docstrings, private ones included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield text.splitlines()[0]


def repeated(names: Iterator[str], least: int = 2) -> str:
    """The names that occur at least so often, with how often."""
    counts = Counter(names)
    return ", ".join(f"{name} {n}" for name, n in counts.most_common() if n >= least) or "none"


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _lines_of(node: ast.AST) -> range:
    return range(node.lineno, node.end_lineno + 1)  # type: ignore[attr-defined]


def main() -> None:
    """Print the table."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    n_lines = sum(len(text.splitlines()) for text in texts.values())
    n_imports = sum(map(import_lines, trees.values()))
    firsts = [line for tree in trees.values() for line in first_lines(tree)]
    n_asking = sum(bool(QUESTION.match(line)) for line in firsts)
    commands = {path: text for path, text in texts.items() if path.parent.name == "cli"}
    longest = max(len(text.splitlines()) for text in commands.values())
    frames = walk()
    print(f"files and lines: {len(texts):,} and {n_lines:,}")
    print(f"imports and __all__: {n_imports:,} lines, {n_imports / n_lines:.1%}")
    print(f"logic in cli/: {sum(map(logic_lines, commands.values())):,} lines; longest {longest}")
    print(f"docstrings that begin with a question word: {n_asking:,} of {len(firsts):,}")
    classes = (
        node.name for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef)
    )
    print(f"class names in several modules: {repeated(classes)}")
    figures = sum(path.stem == "figures" for path in texts)
    print(f"modules called figures.py: {figures}")
    print(
        f"frames from autoj judge to a prompt: {len(frames)} over "
        f"{len({path for path, _ in frames})} files"
    )


if __name__ == "__main__":
    main()
