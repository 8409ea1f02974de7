"""The parallel plan that transformers has for a model: an extra file of its archive, for `meshplan init --from hf`."""

from __future__ import annotations

import json

import transformers

FILE = "parallel_plan.json"


def parallel_plan(model: transformers.PreTrainedModel) -> dict[str, object]:
    """Plans of the model and of the configurations in it, as transformers joins them; empty if it has none."""
    plans = {key: dict(getattr(model, f"_{key}", None) or {}) for key in ("tp_plan", "ep_plan")}
    for plan in plans.values():
        # In a model that is its own base model, names occur a second time, at the root.
        for name in [name for name in plan if any(other.endswith(f".{name}") for other in plan)]:
            del plan[name]
    if not any(plans.values()):
        return {}
    return {"model": type(model).__name__, "transformers": transformers.__version__, **plans}


def extra_files(model: transformers.PreTrainedModel) -> dict[str, str] | None:
    """The `extra_files` argument of torch.export.save."""
    plan = parallel_plan(model)
    return {FILE: json.dumps(plan, indent=1)} if plan else None
