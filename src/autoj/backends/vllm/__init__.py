"""Any model that vLLM runs, in this process, on all visible GPUs.

A card's model is a folder in transformers' layout ("./model" is beside the card) or a name on the
Hugging Face Hub. Quantised checkpoints run unchanged, LoRA adapters beside the weights. A beginning
that requests share is read once (prefix caching). The card's options:

```
tensor_parallel         number of GPUs that each layer is spread over
                        (default: as many as there are that divide the model's heads)
precision               float32, bfloat16, float16, or auto: the checkpoint's own (the default)
quantization            the method, where the checkpoint does not name it
gpu_memory_utilization  the share of each GPU's memory to use, above 0 and at most 1
enforce_eager           true saves the memory of CUDA graphs, and is slower
batch_requests          number of requests handed over at once (default 1,024)
```
"""

from autoj.backends.vllm.engine import VllmBackend
from autoj.backends.vllm.loading import load_engine
from autoj.fetching import OnFetch
from autoj.records import JudgeCard

__all__ = ["VllmBackend", "load"]


def load(card: JudgeCard, on_fetch: OnFetch | None = None) -> VllmBackend:
    """Loads a judge; from the hub the first time, where its card names no folder.

    Args:
        card: its options are those of this package.
        on_fetch: not used, as vLLM shows its own progress of a download.

    Raises:
        MissingExtra: vLLM is not installed.
        ConfigError: there is no GPU or no memory for the model, an option is invalid, or a file is
            missing, damaged or not the right one.
        Unavailable: the model could not be fetched.
        BackendError: vLLM broke down.
    """
    return VllmBackend(card, *load_engine(card))
