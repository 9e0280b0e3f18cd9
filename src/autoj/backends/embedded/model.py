"""The model in OpenVINO: converted once, then used for generation and for scoring choices."""

import logging
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from filelock import FileLock

from autoj.backends._adapters import Adapter
from autoj.backends._choices import ChoiceTrie
from autoj.backends.embedded.dense import write_dense
from autoj.backends.embedded.graph import split, states_a_scale
from autoj.backends.embedded.inputs import lay_out
from autoj.backends.embedded.lean import rewrite
from autoj.backends.embedded.memory import check_memory, does_not_fit, ran_out_of_memory
from autoj.errors import BackendError, StorageFull
from autoj.system_errors import storage_error

_log = logging.getLogger(__name__)
_MODEL_FILE = "openvino_model.xml"
_NARROW_SCALES = re.compile(rb'element_type="f16"')
_PACKED_CONSTANT = re.compile(rb'element_type="[iu][48]"')
# Files from this size on are converted to 8 bits: smaller models are faster in 16, and their memory
# is small either way.
_PACKED_BYTES = 200_000_000
# Two copies of the weights are on the disk together, for a while: about 3.5 times a file of 4 bits
# a weight where both are in 8 bits, 5.5 times where both are in 16.
_DISK_PER_BYTE = {True: 3.6, False: 6.0}
# Measured on the 1.5B: OpenVINO's converter holds 4.0 GB for a file of 1.1, besides what it maps.
_MEMORY_PER_BYTE = 3.6

# OpenVINO makes a kernel for each shape of a batch, hardly any of which comes again, and would keep
# 5,000: a toy grew by 0.9 MB with each batch.
_KERNELS = "64"
# Of the projection onto a vocabulary of 150,000 words: 39 MB of log-probabilities.
_HEAD_ROWS = 64


def convert(weights: Path, adapter: Adapter | None = None) -> Path:
    """The folder of the model in OpenVINO's format, converted beside the weights on first use.

    Args:
        weights: a GGUF file.
        adapter: merged with the weights; it must have been trained on this very file, as
            `read_adapter` checks. Each adapter has a folder of its own, as large as the model's,
            and nothing removes those of adapters that are no longer used.

    Raises:
        BackendError: OpenVINO cannot read the file.
        ConfigError: the adapter does not fit the weights.
        NoRoom: the conversion does not fit into memory.
        StorageFull: the disk has no room for the conversion; nothing was written.
    """
    # The digest covers the base too, whose own digest is in the adapter's metadata.
    name = weights.stem if adapter is None else f"{weights.stem}+{adapter.digest[:16]}"
    packed = weights.stat().st_size >= _PACKED_BYTES
    folder = weights.parent / f"{name}.openvino-{'int8-by-row' if packed else 'f16'}"
    with FileLock(folder.with_name(f"{name}.lock")):
        if (folder / _MODEL_FILE).is_file():
            return folder
        _check_disk(weights, packed=packed)
        if packed:
            check_memory(_MEMORY_PER_BYTE * weights.stat().st_size, "to convert the weights once")
        _log.info("converting %s", weights)
        # The pipeline saves beside the file that it read, so that file is in a folder of its own; a
        # killed conversion leaves no half-written folder under the final name, and the next one
        # removes its remains.
        draft = folder.with_name(f"{folder.name}.draft")
        try:
            _empty(draft)
            dense = draft / "model.gguf"
            write_dense(weights, dense, adapter, packed=packed)
            _save(dense, weights)
            dense.unlink()
            if packed:
                _rewrite(draft / _MODEL_FILE)
            shutil.rmtree(folder, ignore_errors=True)
            draft.rename(folder)
        except OSError as error:
            raise storage_error(error, folder) from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return folder


def weights_file(folder: Path) -> Path:
    """The file that a converted model's weights are mapped from."""
    return (folder / _MODEL_FILE).with_suffix(".bin")


def loaded_bytes(folder: Path) -> int:
    """The memory that a converted model takes, about, when it is loaded to score or to write.

    It covers batches of about 2,000 tokens, as short prompts are put into. A longer prompt is a
    batch of its own and takes more: 1.4 GB more for one of 7,067 tokens, on the 1.5B. The pages of
    its file that are mapped beside it are not counted: the system takes them back.
    """
    # Measured: the weights in the processor's layout and their scales in 32 bits, and what a batch
    # of 2,000 tokens needs. Scales in 16 bits are held twice; a file of 16 bits is computed in 32.
    graph = (folder / _MODEL_FILE).read_bytes()
    if _PACKED_CONSTANT.search(graph) is None:
        factor = 2.2
    else:
        factor = 1.1 if _NARROW_SCALES.search(graph) else 0.97
    return int(weights_file(folder).stat().st_size * factor) + 500_000_000


def _check_disk(weights: Path, *, packed: bool) -> None:
    needed_bytes = weights.stat().st_size * _DISK_PER_BYTE[packed]
    free_bytes = shutil.disk_usage(weights.parent).free
    if free_bytes < needed_bytes:
        raise StorageFull(
            f"{weights.parent}: to convert the weights takes {needed_bytes / 1e9:.1f} GB of disk, "
            f"{free_bytes / 1e9:.1f} GB are free",
            hint="Free some space, or use a smaller judge: --judge embedded-small needs 0.7 GB.",
        )


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(exist_ok=True)


def _save(dense: Path, weights: Path) -> None:
    import openvino_genai

    try:
        openvino_genai.LLMPipeline(str(dense), "CPU", enable_save_ov_model=True)
    except (RuntimeError, IndexError) as error:  # IndexError: without a tokenizer, for one
        if ran_out_of_memory(error):
            raise does_not_fit("the conversion of the weights") from error
        raise BackendError(f"OpenVINO cannot read {weights}: {error}") from error
    if not dense.with_name(_MODEL_FILE).is_file():
        raise BackendError(f"OpenVINO wrote no model for {weights}; is the disk full?")


def _rewrite(graph: Path) -> None:
    try:
        rewrite(graph)
    except RuntimeError as error:
        if ran_out_of_memory(error):
            raise does_not_fit("the conversion of the weights") from error
        raise BackendError(
            f"OpenVINO cannot write the weights anew; is the disk full? {error}"
        ) from error


class ReadChoices(NamedTuple):
    """A trie's choices as they are scored."""

    logprobs: tuple[float, ...]
    """The natural log-probability of each choice given the root."""
    state: npt.NDArray[np.float32]
    """The model's state at the root's end, before its vocabulary, [width]."""


class Likeliest(NamedTuple):
    """The tokens that are likeliest where a chain has others, maybe."""

    tokens: list[int]
    """After the root, and after each node."""
    surprises: list[float]
    """For each node, the log-probability of the likeliest token less that of the node's own."""
    excess: list[float]
    """For each node, the nats of its own token beyond those that any token has there on average:
    what could go on in many ways surprises little."""


class ChoiceModel:
    """Scores whole strings by one forward pass over a prompt and its choices' trie.

    The graph is changed in three places (`graph.split`). Attention is computed in rows of their
    own for tokens that are read once, under a mask that is an input: so the branches of a trie
    cannot attend to each other, and what sequences have in common from their first token on is
    read once, by the first of them. From the last attention on, only the states that are asked for
    are computed, which leaves out most of the vocabulary projection. And that projection is a model
    of its own in float32: in bfloat16 a logit near 20 is rounded to 0.125, which would decide close
    verdicts, and states of 8 bits move log-probabilities by up to 0.065.

    Everything but attention is computed for each token alone, and attention over the same rows of
    keys as without sharing. So a sequence's scores do not depend on its batch, nor on what shares
    its beginning there, and a run that is resumed gets those of one that was not: bit for bit with
    AVX-512, by the sizes that `lay_out` gives a batch, and to four digits in float32 without it.
    """

    def __init__(self, folder: Path, precision: Literal["f32", "bf16"] | None = None) -> None:
        """Reads and compiles the model.

        Args:
            folder: the output of `convert`.
            precision: of all but the projection; None is the fastest of the processor.
        """
        import openvino

        core = openvino.Core()
        body, head = split(core.read_model(folder / _MODEL_FILE))
        settings = {"PERFORMANCE_HINT": "LATENCY", "CPU_RUNTIME_CACHE_CAPACITY": _KERNELS}
        if (group := states_a_scale(body)) is not None:
            settings["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = str(group)
        if precision is not None:
            settings["INFERENCE_PRECISION_HINT"] = precision
        self._request = core.compile_model(body, "CPU", settings).create_infer_request()
        exact = {
            "INFERENCE_PRECISION_HINT": "f32",
            # By default states are rounded to 8 bits before a product with packed weights.
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0",
            "CPU_RUNTIME_CACHE_CAPACITY": _KERNELS,
        }
        self._head = core.compile_model(head, "CPU", exact)

    def score(self, tries: Sequence[ChoiceTrie]) -> list[tuple[float, ...]]:
        """The natural log-probability of each choice given the root, per trie.

        Args:
            tries: a batch; those with a beginning in common are neighbours (`beginnings`).
        """
        return [each.logprobs for each in self.read(tries)]

    def read(self, tries: Sequence[ChoiceTrie]) -> list[ReadChoices]:
        """The choices' scores, with the state that they follow from, per trie.

        Args:
            tries: a batch, as in `score`.
        """
        return [
            ReadChoices(
                tuple(
                    # Row 0 is the root's last token, row i + 1 the inner node i.
                    float(sum(float(logprobs[node + 1, token]) for node, token in steps))
                    for steps in trie.steps
                ),
                states[0],
            )
            for trie, states in self._states(tries)
            for logprobs in [self._head([states])[0]]
        ]

    def likeliest(self, tries: Sequence[ChoiceTrie]) -> list[Likeliest]:
        """The likeliest token at the root's end and after each node, per trie.

        Args:
            tries: a batch, as in `score`; each a chain.
        """
        return [self._likeliest(trie, states) for trie, states in self._states(tries)]

    def _likeliest(self, trie: ChoiceTrie, states: npt.NDArray[np.float32]) -> Likeliest:
        found = Likeliest([], [], [])
        for start in range(0, len(states), _HEAD_ROWS):
            logprobs = self._head([states[start : start + _HEAD_ROWS]])[0]
            standing = trie.tokens[start : start + _HEAD_ROWS]
            best = logprobs.argmax(axis=-1)
            rows = np.arange(len(standing))
            own = logprobs[rows, standing]
            entropy = -(np.exp(logprobs[rows]) * logprobs[rows]).sum(axis=-1)
            found.tokens.extend(best.tolist())
            found.surprises.extend((logprobs[rows, best[rows]] - own).tolist())
            found.excess.extend((-own - entropy).tolist())
        return found

    def _states(
        self, tries: Sequence[ChoiceTrie]
    ) -> Iterator[tuple[ChoiceTrie, npt.NDArray[np.float32]]]:
        """The states at each trie's root's end and inner nodes, [n_nodes + 1, width]."""
        hidden = self._request.infer(
            lay_out(tries).arrays(),
            share_inputs=True,  # a copy of a long prompt's mask would be kept after it, too
        )[0][0]
        for trie in tries:
            states, hidden = np.split(hidden, [len(trie.tokens) + 1])
            yield trie, states
