"""Signatures of packages that cannot run here, read from their released archives.

vLLM, GPTQModel, DeepSpeed and Liger need a GPU, or a torch of their own. What is called of them is
compared with the source of their releases, without importing it:

    pip download --no-deps -d wheels vllm gptqmodel liger-kernel    # and DeepSpeed's archive
    AUTOJ_WHEELS=wheels python -m pytest -m wheels tests/backends/test_released_wheels.py
"""

from __future__ import annotations

import ast
import inspect
import os
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
pytest.importorskip("transformers", reason="the extra `hf` is not installed: no transformers")

from tests.backends import vllm_stub

WHEELS = os.environ.get("AUTOJ_WHEELS")
pytestmark = [
    pytest.mark.wheels,
    pytest.mark.skipif(WHEELS is None, reason="AUTOJ_WHEELS names no folder with archives"),
]
UNKNOWN = object()
"""A default that is an expression."""


class Release:
    """The source of a package in its wheel or source archive."""

    def __init__(self, name: str) -> None:
        found = sorted(Path(WHEELS or ".").glob(f"{name}-*"))
        archives = [path for path in found if path.name.endswith((".whl", ".tar.gz"))]
        if not archives:
            pytest.skip(f"$AUTOJ_WHEELS has no archive of {name}")
        self.path = archives[-1]
        self.version = self.path.name.removesuffix(".tar.gz").split("-")[1]

    def read(self, module: str) -> str:
        if self.path.suffix == ".whl":
            with zipfile.ZipFile(self.path) as wheel:
                return wheel.read(module).decode()
        root = self.path.name.removesuffix(".tar.gz")
        with tarfile.open(self.path) as archive:
            member = archive.extractfile(f"{root}/{module}")
            assert member is not None
            return member.read().decode()

    def find(self, module: str, *path: str) -> Any:
        """A class or a function by its path; the last one where there are overloads."""
        node: Any = ast.parse(self.read(module))
        for name in path:
            inner = [each for each in node.body if getattr(each, "name", None) == name]
            assert inner, f"{self.path.name}: {module} has no {'.'.join(path)}"
            node = inner[-1]
        return node

    def parameters(self, module: str, *path: str) -> dict[str, Any]:
        """The parameters of a function, or the fields of a class, with their defaults."""
        node = self.find(module, *path)
        if isinstance(node, ast.ClassDef):
            fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            return {ast.unparse(each.target): value(each.value) for each in fields}
        given = node.args
        plain = [*given.posonlyargs, *given.args]
        missing: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults))
        pairs = [
            *zip(plain, [*missing, *given.defaults], strict=True),
            *zip(given.kwonlyargs, given.kw_defaults, strict=True),
        ]
        return {one.arg: value(default) for one, default in pairs}


def value(node: ast.expr | None) -> Any:
    if node is None:
        return inspect.Parameter.empty
    if isinstance(node, ast.Call):
        named = {each.arg: each.value for each in node.keywords}
        return value(named["default"]) if "default" in named else UNKNOWN
    try:
        return ast.literal_eval(node)
    except ValueError:
        return UNKNOWN


def check(ours: Any, theirs: Mapping[str, Any]) -> None:
    """Our stand-in takes no other names than theirs, with the same defaults."""
    for name, parameter in inspect.signature(ours).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        assert name in theirs, f"{ours} takes {name}, and the release does not"
        if theirs[name] is not UNKNOWN:
            assert parameter.default == theirs[name], f"{ours}: {name}"


def test_the_stand_in_of_vllm_has_the_signatures_of_its_release() -> None:
    vllm = Release("vllm")
    llm = "vllm/entrypoints/llm.py"
    check(
        vllm_stub.LLM.__init__,
        {"self": inspect.Parameter.empty} | vllm.parameters(llm, "LLM", "__init__"),
    )
    check(vllm_stub.SamplingParams, vllm.parameters("vllm/sampling_params.py", "SamplingParams"))
    check(vllm_stub.LoRARequest, vllm.parameters("vllm/lora/request.py", "LoRARequest"))
    check(vllm_stub.Logprob, vllm.parameters("vllm/logprobs.py", "Logprob"))
    check(vllm_stub.CompletionOutput, vllm.parameters("vllm/outputs.py", "CompletionOutput"))
    answer = vllm.parameters("vllm/outputs.py", "RequestOutput", "__init__")
    check(vllm_stub.RequestOutput.__init__, answer)
    # Its defaults are those of other classes, and are not relied on.
    arguments = vllm.parameters("vllm/engine/arg_utils.py", "EngineArgs")
    assert set(inspect.signature(vllm_stub.EngineArgs).parameters) <= set(arguments)
    vllm.find("vllm/config/vllm.py", "VllmConfig", "use_v2_model_runner")


def test_vllm_reads_the_4_bit_checkpoints_that_cards_name() -> None:
    """`autoj-13b-gptq-4bits` states no quantisation: vLLM takes it from the checkpoint."""
    source = Release("vllm").read("vllm/model_executor/layers/quantization/__init__.py")
    (names,) = [
        ast.literal_eval(node.value.slice)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "QuantizationMethods"
        and isinstance(node.value, ast.Subscript)
    ]  # fmt: skip
    assert {"gptq", "awq", "compressed-tensors"} <= set(names)


def test_gptqmodel_has_what_transformers_asks_of_it() -> None:
    from packaging.version import Version
    from transformers.quantizers import quantizer_gptq

    gptq = Release("gptqmodel")
    assert Version(gptq.version) >= Version(quantizer_gptq.MIN_GPTQ_VERSION)
    gptq.find("gptqmodel/utils/importer.py", "hf_select_quant_linear_v2")
    gptq.find("gptqmodel/utils/model.py", "hf_gptqmodel_post_init")
    load = gptq.parameters("gptqmodel/models/auto.py", "GPTQModel", "load")
    assert list(load)[:3] == ["cls", "model_id_or_path", "quantize_config"]
    quantise = gptq.parameters("gptqmodel/models/base.py", "BaseQModel", "quantize")
    assert {"calibration", "batch_size"} <= set(quantise)
    gptq.find("gptqmodel/models/base.py", "BaseQModel", "save")


def test_deepspeed_has_what_a_launch_by_zero_3_asks_of_it() -> None:
    deepspeed = Release("deepspeed")
    begin = deepspeed.parameters("deepspeed/__init__.py", "initialize")
    # What accelerate hands on.
    assert {"model", "optimizer", "lr_scheduler", "config_params", "model_parameters"} <= set(begin)
    zero = deepspeed.parameters("deepspeed/runtime/zero/config.py", "DeepSpeedZeroConfig")
    assert {"stage", "gather_16bit_weights_on_model_save", "offload_optimizer"} <= set(zero)
    deepspeed.find("deepspeed/checkpoint/utils.py", "clone_tensors_for_torch_save")
    assert "DEEPSPEED_ENVIRONMENT_NAME =" in deepspeed.read("deepspeed/launcher/runner.py")


def test_ligers_kernel_takes_what_the_loss_gives() -> None:
    liger = Release("liger_kernel")
    known = liger.parameters(
        "liger_kernel/transformers/functional.py", "liger_fused_linear_cross_entropy"
    )
    assert list(known)[:4] == ["input", "weight", "target", "bias"]
    assert known["reduction"] == "mean"
    # Each token's own loss has a gradient since 0.8: the weights of samples differ.
    forward = liger.parameters(
        "liger_kernel/ops/fused_linear_cross_entropy.py", "fused_linear_cross_entropy_forward"
    )
    assert "token_grad_output" in forward
