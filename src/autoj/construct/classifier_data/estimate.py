"""The cost of seed queries before they are asked for."""

from math import ceil

from autoj.construct.classifier_data.recipe import MOST_AT_ONCE, ClassifierDataRecipe
from autoj.construct.classifier_data.requests import SeedRequests, wanted_names
from autoj.construct.classifier_data.seeds import seed_spec
from autoj.construct.estimate import CHARACTERS_PER_TOKEN, ConstructEstimate, TeacherEstimate
from autoj.runs.budget import price_usd

QUERY_TOKENS = 60
"""An assumed length of a seed query; some are a few words, some a pasted text."""


def estimate_classifier_data(recipe: ClassifierDataRecipe) -> ConstructEstimate:
    """Estimates what the teacher is asked: from every query being of use to none.

    Raises:
        UnknownComponent: there is no such judge, or no such scenario.
        DataError: the user's scenarios are invalid.
    """
    seeds, names = recipe.seeds, wanted_names(recipe)
    others = tuple(name for name in recipe.stages if name != "seeds")
    if seeds is None or seeds.teacher is None:
        return ConstructEstimate(done=(), teachers=(), not_estimated=recipe.stages)
    spec = seed_spec(seeds)
    n_requests = (
        len(names) * ceil(seeds.per_scenario / MOST_AT_ONCE),
        len(names) * seeds.rounds,
    )
    build = spec.chosen_protocol().build
    prompts = [
        message.content
        for case in SeedRequests(recipe, seeds).first()
        for message in build(case, (0,)).messages
    ]
    per_prompt = sum(map(len, prompts)) / CHARACTERS_PER_TOKEN / len(prompts)
    n_written = len(names) * seeds.per_scenario * QUERY_TOKENS
    most = n_requests[1] * min(seeds.per_scenario, MOST_AT_ONCE) * QUERY_TOKENS
    read = (round(n_requests[0] * per_prompt), round(n_requests[1] * per_prompt))
    wrote = (n_written, max(n_written, most))
    costs = [price_usd(spec.judge, *tokens) for tokens in zip(read, wrote, strict=True)]
    teacher = TeacherEstimate(
        stage="seeds",
        teacher=spec.judge.name,
        n_in=len(names),
        n_requests=n_requests,
        prompt_tokens=read,
        completion_tokens=wrote,
        usd=None if costs[0] is None or costs[1] is None else (costs[0], costs[1]),
        n_kept_most=len(names) * seeds.per_scenario,
    )
    return ConstructEstimate(done=(), teachers=(teacher,), not_estimated=others)
