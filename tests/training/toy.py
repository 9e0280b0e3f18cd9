"""A language model of two layers with random weights, and rows to teach it, made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from autoj import Judge
from autoj.protocols.base import load_text
from autoj.records import Verdict
from autoj.training.judge.loading import TrainingJob
from autoj.training.judge.recipe import read_recipe
from autoj.training.judge.train import train

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
# Prompts of few tokens train fast, so the tokenizer is made of them.
WORDS = [
    load_text(name)
    for name in (
        "pairwise.en.txt", "single.en.txt", "follow_pairwise.en.txt", "follow_single.en.txt",
    )
]  # fmt: skip
WORDS += [
    "1. The key factors to distinguish these two responses:\n\n- clarity: Response 1 is clearer",
    "2. The final decision:\n\nSo, the final decision is Response 1. Response 2. Tie.",
    "Case is plain. [[5]] for example: Rating: [[5]]",
]


def make_model(folder: Path, seed: int = 0, **shape: int) -> Path:
    """Save a small Llama with a tokenizer of its own."""
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=900,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator(WORDS * 3, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token=SPECIAL[2], pad_token=SPECIAL[2]
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        num_attention_heads=4,
        num_key_value_heads=2,
        **{"num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128, **shape},
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        # Larger than a real model's, so that a few steps get somewhere.
        initializer_range=0.08,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=2,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    (folder / "judge.yaml").write_text(
        yaml.safe_dump(
            {
                "title": "Toy",
                "backend": "hf",
                "model": "./",
                "wrapper": "chatml",
                "protocols": ["pairwise", "single"],
                "context_tokens": 1024,
                "decoding": {"max_tokens": 120},
                "licence": "Apache-2.0",
            }
        )
    )
    return folder


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


QUERIES = [
    "Why is the sky blue?", "Name a river.", "What is two and two?", "Greet me.", "Count.",
    "Who are you?", "Sing!", "Is it late?", "Translate this.", "Help.",
]  # fmt: skip


def pair_rows(n: int = 10) -> list[dict[str, Any]]:
    """Pairs with judgments in the layout of Table 18."""
    labels = ["a", "b", "tie"]
    names = {"a": "Response 1", "b": "Response 2", "tie": "Tie"}
    rows = []
    for index in range(n):
        label = labels[index % 3]
        judgment = (
            "1. The key factors to distinguish these two responses:\n\n"
            f"- clarity: Response {1 + index % 2} is clearer, point {index}.\n\n"
            f"2. The final decision:\n\nSo, the final decision is {names[label]}."
        )
        rows.append(
            {
                "id": f"pair-{index}",
                "query": QUERIES[index % len(QUERIES)],
                "responses": [f"One {index}.", f"Another answer {index * 7}."],
                "label": label,
                "meta": {"judgment": judgment},
            }
        )
    return rows


def rated_rows(n: int = 10) -> list[dict[str, Any]]:
    """Single responses with a critique and a rating."""
    return [
        {
            "id": f"single-{index}",
            "query": QUERIES[index % len(QUERIES)],
            "responses": [f"Answer number {index}."],
            "label": float(1 + index % 10),
            "meta": {"judgment": f"Case {index} is plain.\n\nRating: [[{1 + index % 10}]]"},
        }
        for index in range(n)
    ]


def recipe(start: Path, *objectives: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A recipe that overfits a few rows in seconds."""
    return {
        "title": "Toy judge",
        "base": {"judge": str(start)},
        "objectives": list(objectives),
        "update": {"method": "all"},
        "optimiser": {
            "learning_rate": 0.006, "weight_decay": 0.0, "schedule": "cosine",
        },
        "max_tokens": 512,
        "batch_samples": 10,
        "micro_batch_samples": 10,
        "epochs": 100,
        "checkpoint_steps": 1000,
        "swap_pairs": False,
        "precision": "float32",
        **fields,
    }  # fmt: skip


def write_recipe(path: Path, content: dict[str, Any]) -> Path:
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


PREFERENCE = {"kind": "preference", "protocol": "pairwise-by-rating"}


def trained(folder: Path, start: Path | str, **fields: Any) -> Path:
    """A judge that learnt preferences from four pairs, in its folder."""
    data = write_rows(folder / "rows.jsonl", pair_rows(4))
    settings = {"batch_samples": 2, "micro_batch_samples": 2, "epochs": 2, **fields}
    content = recipe(Path("x"), PREFERENCE, **settings)
    content["base"] = {"judge": str(start)}
    path = write_recipe(folder / "recipe.yaml", content)
    job = TrainingJob(recipe=read_recipe(path), data=(data,))
    out = folder / "judge"
    train(job, out)
    return out


def verdict_of(folder: Path) -> Verdict:
    with Judge.load(str(folder)) as judge:
        return judge.compare("Name a river.", "The Nile.", "It is a mountain.")


def pairs_file(folder: Path) -> Path:
    """Pairs that the judges of this file were not trained on."""
    rows = [
        {"id": f"v{number}", "query": f"Say {number}.", "responses": [f"It is {number}.", "No."]}
        for number in range(6)
    ]
    return write_rows(folder / "validation.jsonl", rows)
