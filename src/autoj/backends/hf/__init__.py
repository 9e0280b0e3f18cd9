"""Any causal language model that transformers loads, on a GPU or the CPU, with LoRA adapters.

A card's model is a folder in transformers' layout ("./model" is beside the card), the name of a
model on the Hugging Face Hub, or a `.gguf` file, whose weights are unpacked. Quantised checkpoints
(GPTQ, AWQ, bitsandbytes) run unchanged, by the packages that transformers uses for them. The card's
options:

```
precision     float32, bfloat16, float16, or auto: the checkpoint's own
              (without it: bfloat16 on a GPU, float32 on the CPU, auto for a quantised checkpoint)
device_map    auto spreads the layers over the GPUs; or a map, as accelerate reads it
attention     eager, sdpa or another of transformers' implementations
load_in_4bit  true quantises the weights as they are loaded (bitsandbytes)
continuous    false turns off transformers' continuous batching, which generates on a GPU for
              requests without sampling, repetition penalty and stop strings
batch_tokens  the most tokens of one batch, with padding, to keep memory small
```
"""

from autoj.backends._adapters import heads_of
from autoj.backends.hf.engine import HfBackend
from autoj.backends.hf.models import load_model
from autoj.fetching import OnFetch
from autoj.records import JudgeCard

__all__ = ["HfBackend", "load"]


def load(card: JudgeCard, device: str | None = None, on_fetch: OnFetch | None = None) -> HfBackend:
    """Loads a judge; from the hub the first time, where its card names no file or folder.

    Args:
        card: its options are those of this file.
        device: "cpu", "cuda", …; None takes a GPU where there is one.
        on_fetch: called with the progress where a shipped card's weights are fetched.

    Raises:
        MissingExtra: a package is not installed.
        ConfigError: an option is invalid, a file is missing, damaged or not the right one, or
            the device is missing or too small for the model.
        Unavailable: the model could not be fetched.
    """
    tokenizer, model = load_model(card, device, on_fetch)
    return HfBackend(card, tokenizer, model, heads_of(card))
