"""The files of a mix in the hands of other trainers: TRL itself, the others by their layouts.

**Source:** dataset formats of TRL; the data README of LLaMA-Factory; the pages "conversation" and
"RLHF" of Axolotl's documentation.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from autoj.construct.mixing import write_mix
from autoj.construct.recipe import Mix

from .test_mixing import read, rows

DOCS = Path(__file__).parents[2] / "docs" / "how-to" / "construct.md"
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mixed")
    write_mix(rows(), Mix(stage="mix", validation=0.0), path, seed=0)
    return path


def block(language: str, beginning: str) -> Any:
    """A block of the how-to, read."""
    found = [
        text
        for text in re.findall(rf"```{language}[^\n]*\n(.*?)```", DOCS.read_text(), re.DOTALL)
        if text.startswith(beginning)
    ]
    assert len(found) == 1
    return yaml.safe_load(found[0])


def test_llama_factory_finds_its_columns(folder: Path) -> None:
    """Chats are its OpenAI layout, preferences its Alpaca layout with `ranking`."""
    described = block("json", '{\n  "my_judgments"')
    chats = described["my_judgments"]
    assert chats["formatting"] == "sharegpt"
    tags = chats["tags"]
    for row in read(folder / chats["file_name"]):
        turns = row[chats["columns"]["messages"]]
        roles = [turn[tags["role_tag"]] for turn in turns]
        # It wants the user and the assistant in turn, and texts.
        assert roles == [tags["user_tag"], tags["assistant_tag"]]
        assert all(isinstance(turn[tags["content_tag"]], str) for turn in turns)
    preferences = described["my_preferences"]
    assert preferences["ranking"] is True
    assert "formatting" not in preferences
    for row in read(folder / preferences["file_name"]):
        assert all(
            isinstance(row[preferences["columns"][name]], str)
            for name in ("prompt", "chosen", "rejected")
        )


def test_axolotl_finds_its_fields(folder: Path) -> None:
    """Chats are its `chat_template` layout, preferences its `user_defined` one of DPO."""
    (chats,) = block("yaml", "# axolotl: judgments")["datasets"]
    assert (chats["type"], chats["ds_type"]) == ("chat_template", "json")
    mapped = chats["message_property_mappings"]
    for row in read(folder / Path(chats["path"]).name):
        turns = row[chats["field_messages"]]
        assert turns[-1][mapped["role"]] in chats["roles_to_train"]
        assert all(isinstance(turn[mapped["content"]], str) for turn in turns)
    config = block("yaml", "# axolotl: preferences")
    assert config["rl"] == "dpo"
    (preferences,) = config["datasets"]
    layout = preferences["type"]
    for row in read(folder / Path(preferences["path"]).name):
        for name in ("prompt", "chosen", "rejected"):
            assert isinstance(row[layout[f"field_{name}"]], str)
            assert row[name] in layout[f"{name}_format"].format(**row)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    pytest.importorskip("trl", reason="the extra `train` is not installed: no trl")
    from ..tiny_llama import make_tokenizer

    made = make_tokenizer()
    made.chat_template = TEMPLATE
    made.pad_token = made.unk_token
    return made


def test_trl_reads_chats_as_conversations(folder: Path, tokenizer: Any) -> None:
    from trl.data_utils import apply_chat_template, is_conversational

    for row in read(folder / "messages.jsonl")[:5]:
        assert is_conversational(row)
        text = apply_chat_template(row, tokenizer)["text"]
        prompt, target = (message["content"] for message in row["messages"])
        assert text == TEMPLATED.format(prompt=prompt, target=target)


TEMPLATED = "<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n{target}<|im_end|>\n"


def test_trl_reads_both_files_of_preferences(folder: Path, tokenizer: Any) -> None:
    from trl.data_utils import apply_chat_template, is_conversational, maybe_extract_prompt

    texts = read(folder / "preference.jsonl")
    chats = read(folder / "preference_messages.jsonl")
    for row, chat in zip(texts[:5], chats[:5], strict=True):
        assert not is_conversational(row)
        assert is_conversational(chat)
        # Neither has a prompt that would have to be guessed.
        assert maybe_extract_prompt(row) == row
        assert maybe_extract_prompt(chat) == chat
        shown = apply_chat_template(chat, tokenizer)
        for side in ("chosen", "rejected"):
            whole = shown["prompt"] + shown[side]
            assert whole == TEMPLATED.format(prompt=row["prompt"], target=row[side])


def loaded(path: Path) -> Any:
    """A file as a data set of the datasets library, without its cache."""
    from datasets import Dataset

    return Dataset.from_list(read(path)[:8])


@pytest.fixture(scope="module")
def model_folder(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A toy model on disk: DPO loads its reference from there."""
    from ..tiny_llama import make_model, save_model

    model = make_model()
    model.config.pad_token_id = 0
    return str(save_model(tmp_path_factory.mktemp("toy"), tokenizer, model))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of TRL and PyTorch
@pytest.mark.parametrize(
    ("trainer", "name"),
    [
        ("SFT", "messages"),
        ("Reward", "preference"),
        ("Reward", "preference_messages"),
        ("DPO", "preference"),
        ("DPO", "preference_messages"),
    ],
)
def test_trl_trains_a_step(
    folder: Path, tokenizer: Any, model_folder: str, tmp_path: Path, trainer: str, name: str
) -> None:
    import trl

    settings = getattr(trl, f"{trainer}Config")(
        output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=2, report_to="none",
        use_cpu=True, bf16=False, gradient_checkpointing=False, save_strategy="no", max_length=600,
    )  # fmt: skip
    data = loaded(folder / f"{name}.jsonl")
    made = getattr(trl, f"{trainer}Trainer")(
        model=model_folder, args=settings, train_dataset=data, processing_class=tokenizer
    )
    # Nothing is left out as it cannot be read.
    assert len(made.train_dataset) == len(data)
    trained = made.train()
    assert trained.global_step == 1
    assert math.isfinite(trained.training_loss)
