"""What a task of lmms-eval names in its YAML: `process_results` and an aggregation.

A task's `utils.py` holds

    from sightline.integrations.lmms_eval import for_task
    process_results, aggregate = for_task("cider", images="image", references="answer")

and its YAML

    process_results: !function utils.process_results
    metric_list:
      - metric: cider
        aggregation: !function utils.aggregate
        higher_is_better: true

All answers are scored together at the end, so metrics of a whole corpus are right. lmms-eval itself is not needed here:
its convention is functions over plain values.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sightline.integrations.texts import scores_of, several

Process = Callable[[Mapping[str, Any], Sequence[str]], dict[str, dict[str, Any]]]
Aggregate = Callable[..., float]


def for_task(
    metric: str, *, images: str | None = "image", references: str | None = None, **options: Any
) -> tuple[Process, Aggregate]:
    """The two functions. `images` and `references` are fields of a task's documents, `options` those of
    `sightline.score`. The key of the results is the metric's name without its options.
    """
    name = metric.partition(":")[0]

    def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, dict[str, Any]]:
        return {
            name: {
                "text": results[0] if results else "",
                "images": several(doc[images]) if images else [],
                "references": [str(one) for one in several(doc[references])] if references else [],
            }
        }

    def aggregate(results: Sequence[Mapping[str, Any]], args: Any = None) -> float:
        items = [{**row, "id": str(number)} for number, row in enumerate(results, 1)]
        return scores_of(items, metric, **options).value

    return process_results, aggregate
