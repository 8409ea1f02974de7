"""The modules of exported graphs as PyTorch runs them for a comparison: in their own precision, and in float64."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Sequence

import torch

from harness.reference.addends import Shards, split_products
from harness.reference.archives import leaves
from harness.reference.deviations import FLOATS
from harness.reference.draws import Draws, replay
from harness.tensors import Tensors

COMPUTE = {"bfloat16": torch.bfloat16, "float16": torch.float16}
CONVOLUTIONS = (
    torch.ops.aten.conv3d.default,
    torch.ops.aten.conv3d.padding,
    torch.ops.aten.conv_transpose3d.input,
    torch.ops.aten.convolution.default,
)


def widen(value: object) -> object:
    """A literal argument of the graph with float dtypes made float64."""
    if isinstance(value, torch.dtype) and value in FLOATS:
        return torch.float64
    return value


def grouped_mm(rows: torch.Tensor, matrices: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """aten._grouped_mm, which knows no float64."""
    groups = torch.tensor_split(rows, ends.tolist()[:-1])
    return torch.cat([group @ matrix for group, matrix in zip(groups, matrices, strict=True)])


def copied(into: torch.Tensor, source: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """aten.copy, which has no derivative."""
    return source.to(into.dtype).expand_as(into).clone()


def use_own_copy(graph: torch.fx.Graph) -> None:
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.copy.default):
        node.target = copied


def erase_metadata_asserts(module: torch.fx.GraphModule) -> None:
    """In another precision tensors have other dtypes than when the model was exported."""
    for node in module.graph.find_nodes(op="call_function", target=torch.ops.aten._assert_tensor_metadata.default):
        module.graph.erase_node(node)


def without_autocast(enabled: bool, region: torch.nn.Module, *arguments: object) -> object:
    """A region without gradients of a graph that computes with positions alone: models switch autocast off around
    rotary angles, of which a graph says nothing."""
    with torch.set_grad_enabled(enabled), torch.autocast("cpu", enabled=False):
        return region(*arguments)


def data_of(graph: torch.fx.Graph) -> set[torch.fx.Node]:
    """What depends on parameters or floats of the batch, and not on integers and buffers alone."""
    found: set[torch.fx.Node] = set()
    for node in graph.nodes:
        value = node.meta.get("val")
        is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
        is_first = node.op == "placeholder" and is_float
        is_first |= node.op == "get_attr" and isinstance(attribute_of(node), torch.nn.Parameter)
        if is_first or not found.isdisjoint(node.all_input_nodes):
            found.add(node)
    return found


def attribute_of(node: torch.fx.Node) -> object:
    module: object = node.graph.owning_module
    for name in str(node.target).split("."):
        module = getattr(module, name)
    return module


def sound(target: torch._ops.OpOverload) -> Callable[..., torch.Tensor]:
    """A convolution whose weight has a gradient. Of volumes of bf16 PyTorch 2.11 leaves elements of it as they were in
    memory, and so these are computed in float32.
    """

    def convolution(images: torch.Tensor, weight: torch.Tensor, *rest: object) -> torch.Tensor:
        if weight.dim() != 5 or weight.dtype != torch.bfloat16:
            return target(images, weight, *rest)
        wide = [each.float() if isinstance(each, torch.Tensor) else each for each in rest]
        return target(images.float(), weight.float(), *wide).to(weight.dtype)

    return convolution


def batch_norm(
    input: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[torch.Tensor | None, ...]:
    """aten._native_batch_norm_legit_functional by PyTorch's own batch norm: the module of a graph overwrites buffers
    that the operator has kept for its derivative."""
    mean, variance = running_mean.clone(), running_var.clone()
    made = torch.nn.functional.batch_norm(input, mean, variance, weight, bias, training, momentum, eps)
    return made, None, None, mean, variance


def leaves_recurrences_wide() -> bool:
    """True under autocast on a CPU where oneDNN has no 16 bits: there PyTorch leaves recurrences in f32."""
    return torch.is_autocast_enabled("cpu") and not torch.ops.mkldnn._is_mkldnn_bf16_supported()


def lstm(
    input: torch.Tensor, state: Sequence[torch.Tensor], weights: Sequence[torch.Tensor], *settings: object
) -> tuple[torch.Tensor, ...]:
    """aten.lstm.input under autocast in 16 bits on every CPU, as the compiler does."""
    if not leaves_recurrences_wide():
        return torch.ops.aten.lstm.input(input, state, weights, *settings)
    dtype = torch.get_autocast_dtype("cpu")
    with torch.autocast("cpu", enabled=False), torch.backends.mkldnn.flags(enabled=False):
        lowered = [[tensor.to(dtype) for tensor in tensors] for tensors in (state, weights)]
        return torch.ops.aten.lstm.input(input.to(dtype), *lowered, *settings)


def use_own_batch_norm(graph: torch.fx.Graph) -> None:
    target = torch.ops.aten._native_batch_norm_legit_functional.default
    for node in graph.find_nodes(op="call_function", target=target):
        node.target = batch_norm


def own_module(
    program: torch.export.ExportedProgram, draws: Draws | None = None, shards: Shards | None = None
) -> torch.nn.Module:
    """The module of the graph, with the random numbers of a compiled program; with `shards` products are computed in
    addends that are rounded (reference/addends.py).

    Its kernels may lay results out otherwise than the export thought, so that no view of them is possible.
    """
    module = program.module()
    for graph_module in module.modules():
        if isinstance(graph_module, torch.fx.GraphModule):
            for node in graph_module.graph.find_nodes(op="call_function", target=torch.ops.aten.view.default):
                node.target = torch.ops.aten.reshape.default
            data = data_of(graph_module.graph)
            for node in graph_module.graph.find_nodes(
                op="call_function", target=torch.ops.higher_order.wrap_with_set_grad_enabled
            ):
                if data.isdisjoint(node.all_input_nodes):
                    node.target = without_autocast
            use_own_batch_norm(graph_module.graph)
            use_own_copy(graph_module.graph)
            for node in graph_module.graph.find_nodes(op="call_function", target=torch.ops.aten.lstm.input):
                node.target = lstm
            for target in CONVOLUTIONS:
                for node in graph_module.graph.find_nodes(op="call_function", target=target):
                    node.target = sound(target)
            erase_metadata_asserts(graph_module)
            graph_module.recompile()
    replay(module, draws or Draws())
    split_products(module, shards or {})
    return module


def widened_module(program: torch.export.ExportedProgram, draws: Draws | None = None) -> torch.nn.Module:
    """The module of the graph, with the random numbers of a compiled program, computing in float64."""
    module = copy.deepcopy(program.module(check_guards=False))
    replay(module, draws or Draws())
    for graph_module in module.modules():
        if not isinstance(graph_module, torch.fx.GraphModule):
            continue
        erase_metadata_asserts(graph_module)
        use_own_batch_norm(graph_module.graph)
        use_own_copy(graph_module.graph)
        for node in list(graph_module.graph.nodes):
            if node.op != "call_function":
                continue
            if node.target is torch.ops.aten._grouped_mm.default:
                node.target = grouped_mm
            if node.target is torch.ops.aten.view.default:
                # A kernel may lay its result out otherwise in float64.
                node.target = torch.ops.aten.reshape.default
            node.args = torch.fx.node.map_aggregate(node.args, widen)
            node.kwargs = torch.fx.node.map_aggregate(node.kwargs, widen)
        graph_module.recompile()
    return module.double()


def autocast(compute: str | None) -> contextlib.AbstractContextManager[object]:
    """PyTorch's autocast in this dtype; none does nothing."""
    return torch.autocast("cpu", dtype=COMPUTE[compute]) if compute else contextlib.nullcontext()


def run(
    module: torch.nn.Module, inputs: Tensors, positional: Sequence[str] = (), compute: str | None = None
) -> Tensors:
    """The outputs by name; the inputs named in `positional` were exported without their names, in this order."""
    named = {name: tensor for name, tensor in inputs.items() if name not in positional}
    with torch.no_grad(), autocast(compute):
        return dict(leaves(module(*(inputs[name] for name in positional), **named)))


def run_on_device(module: torch.nn.Module, device: str, inputs: Tensors, positional: Sequence[str] = ()) -> Tensors:
    """The outputs of a module of such a program, on the host."""
    placed = {name: tensor.to(device) for name, tensor in inputs.items()}
    return {name: tensor.cpu() for name, tensor in run(module, placed, positional).items()}
