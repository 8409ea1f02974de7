"""Properties of an exported graph that decompositions would break: writes in place and stopped gradients."""

from __future__ import annotations

import torch


def is_functional(program: torch.export.ExportedProgram) -> bool:
    """Whether no node writes an operand, including BatchNorm's running statistics."""
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if not isinstance(node.target, torch._ops.OpOverload):
                continue
            arguments = node.normalized_arguments(program.graph_module)
            training = arguments.kwargs.get("training") if arguments else None
            if node.target._schema.is_mutable or (training and "batch_norm" in node.target.name()):
                return False
    return True


def is_under_autocast(program: torch.export.ExportedProgram) -> bool:
    """Whether a region is under torch.autocast: its conversions are explicit only after decompositions."""
    return any(
        region.args[2]
        for module in program.graph_module.modules()
        if isinstance(module, torch.fx.GraphModule)
        for region in module.graph.find_nodes(op="call_function", target=torch.ops.higher_order.wrap_with_autocast)
    )


def is_given_back(node: torch.fx.Node) -> bool:
    """True if the result is the first argument itself: conversions without effect, and inactive dropout."""
    name = str(node.target)
    if name == "aten.dropout.default":
        return node.args[2] is False or node.args[1] == 0
    if not name.startswith("aten.to.") and name != "aten.type_as.default":
        return False
    names = [argument.name for argument in node.target._schema.arguments]
    given = dict(zip(names, node.args, strict=False)) | node.kwargs
    asks = given.get("copy") or given.get("memory_format") not in (None, torch.preserve_format)
    return not asks and node.args[0].meta["val"].dtype == node.meta["val"].dtype


def given_back(program: torch.export.ExportedProgram, region: torch.fx.Node, number: int) -> torch.fx.Node | None:
    """The operand of the region that its result with this number returns unchanged."""
    graph = getattr(program.graph_module, region.args[1].target).graph
    node = next(iter(graph.find_nodes(op="output"))).args[0][number]
    while node.op == "call_function" and is_given_back(node):
        node = node.args[0]
    operands = dict(zip(graph.find_nodes(op="placeholder"), region.args[2:], strict=True))
    return operands.get(node)


def stop_gradients(program: torch.export.ExportedProgram) -> None:
    """Puts a detach after results of `torch.no_grad()`: after decompositions PyTorch would compute gradients there."""
    graph = program.graph
    for region in list(graph.find_nodes(op="call_function", target=torch.ops.higher_order.wrap_with_set_grad_enabled)):
        if region.args[0] is not False:
            continue
        for result in list(region.users):
            if not result.meta["val"].is_floating_point():
                continue
            if operand := given_back(program, region, result.args[1]):
                result.replace_all_uses_with(operand)
                program.graph_signature.replace_all_uses(result.name, operand.name)
                continue
            with graph.inserting_after(result):
                stopped = graph.call_function(torch.ops.aten.detach.default, (result,))
            stopped.meta = dict(result.meta)
            result.replace_all_uses_with(stopped, delete_user_cb=lambda user, stopped=stopped: user is not stopped)
            program.graph_signature.replace_all_uses(result.name, stopped.name)
    program.graph_module.recompile()
