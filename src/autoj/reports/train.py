"""Trainings of judges and of scenario classifiers: their cost before, and their figures after."""

from collections import Counter

from rich.console import Group
from rich.text import Text

from autoj.reports import render
from autoj.training.classifier.job import ClassifierJob
from autoj.training.classifier.train import ClassifierReport
from autoj.training.judge.estimate import Estimated
from autoj.training.judge.sampling import Extent
from autoj.training.judge.scale import GPUS, MODEL_FLOPS_SHARE, ScalePlan
from autoj.training.judge.speed import Speed
from autoj.training.judge.train import Report

_GIB = 1 << 30
_GPU_COUNTS = (1, 8, 16)
_PLAN = Text("Training plan", style="bold")


def plan_view(estimated: Estimated) -> Group:
    """Updates, tokens, weights, memory and time of a training, and what they are estimated from."""
    extent = estimated.extent
    about = "" if extent.n_drawn is None else "about "
    rows = [
        ("updates", f"{about}{estimated.n_steps:,}"),
        ("samples", f"{about}{extent.n_samples:,}"),
        ("tokens", f"{about}{extent.n_tokens:,}{_interval(extent)}"),
        ("weights", f"{estimated.n_weights:,}"),
        ("of them trained", f"{estimated.n_trained:,}"),
        ("memory, at most about", f"{estimated.memory_bytes / _GIB:.1f} GiB"),
        ("free memory", f"{estimated.available_bytes / _GIB:.1f} GiB"),
    ]
    if estimated.speed is not None and estimated.hours is not None:
        rows += [
            ("speed here", f"about {speed_words(estimated.speed)}"),
            ("time here", f"about {_duration(estimated.hours)}"),
        ]
    return Group(_PLAN, render.facts(rows), *render.notes(_sources(estimated)))


def scale_view(plan: ScalePlan) -> Group:
    """Updates and tokens of a training at scale, its memory by layout, its hours by GPU."""
    low, high = plan.steps_range
    rows = [
        ("updates", f"{plan.n_steps:,} ({low:,} to {high:,} by how epochs end)"),
        *(
            [("updates, published", f"{plan.published_steps:,}")]
            if plan.published_steps is not None
            else []
        ),
        ("samples of an epoch", f"{plan.n_samples:,}"),
        ("tokens", f"{plan.n_tokens:,}"),
        ("weights", f"{plan.n_weights:,}"),
        ("of them trained", f"{plan.n_trained:,}"),
    ]
    memory = render.Listing(
        render.Column.text("layout", 32),
        render.Column.number("GiB per GPU"),
        *(render.Column.text(gpu.name, 12) for gpu in GPUS),
    )
    for layout, needed in plan.memory_bytes.items():
        fits = ("fits" if needed <= gpu.memory_bytes else "no" for gpu in GPUS)
        memory.add(layout.name, f"{needed / _GIB:.1f}", *fits)
    hours = render.Listing(
        render.Column.text("GPU", 12),
        *(render.Column.number(f"hours on {n}") for n in _GPU_COUNTS),
    )
    for gpu, found in plan.gpu_hours.items():
        hours.add(gpu.name, *(f"{found / n:,.1f}" for n in _GPU_COUNTS))
    notes = [
        f"Samples and tokens: {plan.source}.",
        "Memory: trained weights in float32 with gradient and both moments, 16 bytes each; the "
        "largest micro-batch of the data, and without data one of max_tokens each.",
        f"Hours: {MODEL_FLOPS_SHARE:.0%} of the peak in bfloat16 by the data sheet, assumed; "
        "nothing was measured.",
    ]
    return Group(_PLAN, render.facts(rows), Text(), memory, Text(), hours, *render.notes(notes))


def _interval(extent: Extent) -> str:
    if extent.tokens_low is None or extent.tokens_high is None:
        return ""
    return f" [{extent.tokens_low:,}, {extent.tokens_high:,}]"


def _sources(estimated: Estimated) -> list[str]:
    """The samples and the micro-batch that the figures are estimated from."""
    extent, said = estimated.extent, []
    if extent.n_drawn is not None:
        said.append(
            f"Tokens are estimated from {extent.n_drawn:,} samples drawn at random"
            + ("; the interval is at 95 %." if extent.tokens_low is not None else ".")
        )
    longest = max(one.n_tokens for sample in extent.largest for one in sample.sequences)
    said.append(f"Memory is that of the largest micro-batch, of texts of up to {longest:,} tokens.")
    if extent.n_too_long:
        share = f"{extent.n_too_long:,} of " + f"{extent.n_drawn or extent.n_samples:,}"
        said.append(f"{share} samples are longer than max_tokens and will be left out.")
    if estimated.speed is not None:
        said.append("The speed is that of one micro-batch of middle length, timed now.")
    return said


def _duration(hours: float) -> str:
    if hours >= 2:
        return f"{hours:.1f} h"
    minutes = hours * 60
    return f"{minutes:.0f} min" if minutes >= 2 else f"{minutes * 60:.0f} s"


def speed_words(speed: Speed) -> str:
    """Tokens per second, and the share of the peak that they are, with the origin of the peak."""
    said = f"{speed.tokens_per_second:,.0f} tokens/s"
    if speed.peak is None or speed.peak_share is None:
        return said
    found = f"{speed.peak.flops_per_second / 1e12:,.3g} TFLOP/s"
    origin = "measured here by a matrix product" if speed.peak.is_measured else "as given"
    return f"{said}, {speed.peak_share:.0%} of the peak (MFU; {found}, {origin})"


def report_lines(report: Report) -> list[str]:
    """Updates, figures and folder of a trained judge; empty if it was trained before."""
    if report.n_steps is None:
        return []
    figures = ", ".join(f"{name} {value:.4g}" for name, value in sorted(report.best.items()))
    pace = [] if report.speed is None else [speed_words(report.speed)]
    return [
        f"{report.n_steps:,} updates" + (f"; {figures}" if figures else ""),
        *pace,
        f"the judge is in {report.folder}: autoj judge … --judge {report.folder}",
    ]


def classifier_plan_view(job: ClassifierJob) -> Group:
    """The recipe and the queries of a scenario classifier's training."""
    counts = Counter(job.queries.scenarios)
    rarest, n_rarest = min(counts.items(), key=lambda item: item[1])
    rows = [
        ("tier", job.recipe.tier),
        ("queries", f"{len(job.queries.queries):,}"),
        ("scenarios", f"{len(counts)}"),
        ("queries of the rarest", f"{n_rarest} ({rarest})"),
        ("features", ", ".join(job.recipe.features)),
    ]
    return Group(_PLAN, render.facts(rows))


def classifier_report_view(report: ClassifierReport) -> Group:
    """The figures of a trained scenario classifier on held-out queries, and its size."""
    figures = report.figures
    rows = [
        ("queries", f"{report.n_queries:,}"),
        ("without near-duplicates", f"{report.n_clusters:,}"),
        ("accuracy", render.percent(figures["accuracy"])),
        ("macro f1", render.percent(figures["macro_f1"])),
        ("top 3", render.percent(figures["top_3"])),
        ("mean probability", render.percent(figures["mean_probability"])),
        ("log loss", f"{figures['log_loss']:.3f}"),
        ("size", f"{report.n_bytes / 1e6:.1f} MB"),
    ]
    title = Text(f"On {report.n_held_out:,} held-out queries", style="bold")
    return Group(title, render.facts(rows))
