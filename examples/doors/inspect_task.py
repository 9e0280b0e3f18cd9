"""Three questions for Inspect, whose answers a judge rates from 1 to 10.

inspect eval examples/doors/inspect_task.py --model mockllm/model
"""

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.solver import generate

from autoj.doors.inspect import rating

QUESTIONS = {
    "sum": "What is 2 + 2?",
    "capital": "What is the capital of Australia?",
    "colours": "Name three colours.",
}


@task
def questions(judge: str = "embedded") -> Task:
    """The questions, rated by a judge."""
    samples = [Sample(id=name, input=text) for name, text in QUESTIONS.items()]
    return Task(dataset=samples, solver=generate(), scorer=rating(judge))
