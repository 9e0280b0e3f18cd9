"""Any model that vLLM runs, in this process, on all GPUs that it sees.

A card's model is a folder in transformers' layout ("./model" lies beside the card) or a name on the
Hugging Face Hub. Quantised checkpoints are run as they are, LoRA adapters beside the weights. What
requests have in common at their beginning is read once (prefix caching). The card's options:

```
tensor_parallel         over how many GPUs each layer is spread
                        (without it: as many as are there and divide the model's heads)
precision               float32, bfloat16, float16, or auto: the checkpoint's own (the default)
quantization            the method, where the checkpoint does not say it
gpu_memory_utilization  the share of each GPU's memory that is taken, above 0 and at most 1
enforce_eager           true saves the memory of CUDA graphs, and is slower
batch_requests          how many requests are handed over at once (default 1,024)
```
"""

from __future__ import annotations

from autoj.backends.embedded.weights import OnFetch
from autoj.backends.vllm.engine import VllmBackend
from autoj.backends.vllm.loading import load_engine
from autoj.records import JudgeCard

__all__ = ["VllmBackend", "load"]


def load(card: JudgeCard, on_fetch: OnFetch | None = None) -> VllmBackend:
    """Load a judge; from the hub the first time, where its card names no folder.

    Args:
        card: its options are those of this package.
        on_fetch: not used, as vLLM shows its own progress of a download.

    Raises:
        MissingExtra: vLLM is not installed.
        ConfigError: there is no GPU or no memory for the model, an option makes no sense, or a file
            is missing, damaged or not the right one.
        Unavailable: the model could not be fetched.
        BackendError: vLLM broke down.
    """
    return VllmBackend(card, *load_engine(card))
