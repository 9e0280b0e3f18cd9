"""The model card of a trained judge: Markdown with the Hub's front matter, figures as measured."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml


def render_model_card(
    card: Mapping[str, Any],
    settings: Mapping[str, Any] | None,
    figures: Mapping[str, float],
    *,
    library: str,
    export: str | None = None,
) -> str:
    """Renders the README.md of a judge's folder.

    Args:
        card: the content of its `judge.yaml`.
        settings: the settings of its training (`train.json`); None where they are not known.
        figures: results on the validation file at the kept step.
        library: the library that loads the weights, by its name on the Hub (`peft`, …).
        export: for an export, the verdicts that it moved, in a sentence.
    """
    front = {
        "license": (card.get("licence") or "unknown").lower(),
        "library_name": library,
        "language": list(card.get("languages") or ["en"]),
        "base_model": card["title"] if settings is None else settings["recipe"]["base"]["judge"],
        "tags": ["autoj", "llm-as-a-judge", "evaluation"],
    }
    trained = "" if settings is None else ", trained with `autoj`"
    sections = [
        f"# {card['title']}",
        f"A judge of language models' responses{trained}. "
        f"It expects the wrapper `{card['wrapper']}` and supports the protocols "
        + ", ".join(f"`{name}`" for name in card["protocols"])
        + "; other protocols are refused.",
        "```\nautoj judge pairs.jsonl --judge PATH/TO/THIS/FOLDER\n```",
    ]
    if export is not None:
        sections.append("## Verdicts that this form of the weights moves\n\n" + export)
    if settings is not None:
        sections += [
            "## Data\n\n" + _data(settings),
            "## Training\n\n" + _training(settings["recipe"], settings),
            "## Figures\n\n" + _figures(figures, settings),
        ]
    optimistic = (
        "The figures above come from the validation file that also chose the kept step, so they "
        "are slightly optimistic. "
    )
    sections.append(
        f"## Limits\n\n{optimistic if figures else ''}Before you rely on its verdicts, measure the "
        "judge's agreement with people and its biases: `autoj bench eval-p --judge …` and "
        "`autoj audit --judge …`."
    )
    matter = yaml.safe_dump(front, sort_keys=False, allow_unicode=True)
    return f"---\n{matter}---\n\n" + "\n\n".join(sections) + "\n"


def _data(settings: Mapping[str, Any]) -> str:
    rows = [
        (use, entry["name"], entry["sha256"][:16])
        for use, entries in settings["files"].items()
        for entry in entries
    ]
    return _table(("used for", "file", "sha256"), rows)


def _training(recipe: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    update, optimiser = recipe["update"], recipe["optimiser"]
    rows = [
        ("objectives", "; ".join(_objective(objective) for objective in recipe["objectives"])),
        ("weights trained", _update(update)),
        ("peak learning rate", f"{optimiser['learning_rate']:g}, {optimiser['schedule']}"),
        ("samples per update", recipe["batch_samples"]),
        ("longest sequence", f"{recipe['max_tokens']:,} tokens"),
        ("epochs", f"{recipe['epochs']:g}"),
        ("token budget", settings.get("budget_tokens") or "none"),
        ("seed", recipe["seed"]),
        ("autoj", settings.get("versions", {}).get("autoj", "unknown")),
    ]
    return _table(("setting", "value"), rows)


def _objective(objective: Mapping[str, Any]) -> str:
    return f"{objective['kind']} by {objective['protocol']} (weight {objective['weight']:g})"


def _update(update: Mapping[str, Any]) -> str:
    top = f", top {update['top_layers']} layers" if update.get("top_layers") else ""
    if update["method"] == "lora":
        return f"LoRA of rank {update['rank']}{top}"
    return "all" if update["method"] == "all" else f"layers{top}"


def _figures(figures: Mapping[str, float], settings: Mapping[str, Any]) -> str:
    if not figures:
        return "There are none: no validation file was given, or its figures were of other weights."
    names = ", ".join(entry["name"] for entry in settings["files"]["validation"])
    rows = [(name.replace("_", " "), f"{value:.4g}") for name, value in sorted(figures.items())]
    return f"On {names}:\n\n" + _table(("figure", "value"), rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")
