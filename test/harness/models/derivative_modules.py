"""Modules that call many operators, each on a parameter of its own, whose gradient depends on that operator alone."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import nn

from harness.models.each_operator import (
    ROWS,
    SAMPLES,
    WIDTH,
    EachOperator,
    applied,
    chance,
    images,
    indices,
    lines,
    positive,
    volumes,
)

aten = torch.ops.aten
functional = nn.functional


class Functions(EachOperator):
    """Functions of one element."""

    operators: ClassVar = {
        **applied(
            "exp exp2 expm1 sin cos erf sigmoid tanh silu gelu hardswish hardsigmoid mish relu leaky_relu softplus elu "
            "hardtanh relu6 log_sigmoid abs neg square atan asinh sinh cosh sinc erfc hardshrink softshrink celu selu "
            "nan_to_num deg2rad rad2deg alias clone contiguous"
        ),
        **applied("log log2 log10 log1p sqrt rsqrt reciprocal digamma lgamma frac", positive),
        **applied("asin acos atanh erfinv logit tan", chance),
        "steps": lambda x, y: x * (x.floor() + x.ceil() + x.round() + x.trunc() + x.sign() + x.sgn()),
        "acosh": lambda x, y: aten.acosh(positive(x) + 1),
        "gelu_tanh": lambda x, y: functional.gelu(x, approximate="tanh"),
        "leaky_steep": lambda x, y: functional.leaky_relu(x, 0.3),
        "softplus_beta": lambda x, y: functional.softplus(x, beta=2, threshold=1.5),
        "elu_alpha": lambda x, y: functional.elu(x, alpha=0.5),
        "hardtanh_bounds": lambda x, y: functional.hardtanh(x, -0.5, 1.5),
        "threshold": lambda x, y: functional.threshold(x, 0.3, 2.0),
        "glu_features": lambda x, y: functional.glu(x.unflatten(-1, (-1, 2))),
        "glu_rows": lambda x, y: functional.glu(x, dim=1),
        "dropout": lambda x, y: aten.dropout(x, 0.5, False),
        "detached": lambda x, y: x.detach() * x,
        "wide": lambda x, y: aten.to.dtype(aten.to.dtype(x, torch.float32) * 2, y.dtype),
        "copied": lambda x, y: aten._to_copy(aten._to_copy(x, dtype=torch.float32) * 3, dtype=y.dtype),
        "like": lambda x, y: aten.type_as(x.float(), y) * x,
        "prelu": lambda x, y: functional.prelu(x, y[0, 0, :ROWS]),
        "celu_alpha": lambda x, y: functional.celu(x, 0.7),
    }


class Arithmetic(EachOperator):
    """Two operands, of which either may be broadcast, and choices between them."""

    operators: ClassVar = {
        "add_alpha": lambda x, y: torch.add(x, y, alpha=2),
        "add_number": lambda x, y: aten.add.Scalar(x, 3, 2),
        "sub_alpha": lambda x, y: torch.sub(y[:, :1], x, alpha=2),
        "sub_number": lambda x, y: aten.sub.Scalar(x, 3),
        "rsub": lambda x, y: aten.rsub.Tensor(x, y, alpha=3),
        "rsub_number": lambda x, y: aten.rsub.Scalar(x, 2),
        "mul_column": lambda x, y: y * x.sum(-1, keepdim=True),
        "mul_number": lambda x, y: aten.mul.Scalar(x, 1.5),
        "mul_self": lambda x, y: x * x,
        "div": lambda x, y: y[0] / positive(x),
        "div_row": lambda x, y: x / positive(y[:, :1]),
        "div_number": lambda x, y: aten.div.Scalar(x, 1.5),
        "div_floor": lambda x, y: x * torch.div(x, 0.7, rounding_mode="floor").detach(),
        "addcmul": lambda x, y: torch.addcmul(y, x, y[:, :1], value=0.5),
        "addcdiv": lambda x, y: torch.addcdiv(y[:1], x, positive(y), value=0.5),
        "addcdiv_other": lambda x, y: torch.addcdiv(y, y, positive(x)),
        "maximum": lambda x, y: torch.maximum(x, y[:, :1]),
        "minimum": lambda x, y: torch.minimum(y[:, :1], x),
        "maximum_of_equals": lambda x, y: torch.maximum(x.relu(), x.relu() * 1) + torch.minimum(x, x.neg().neg()),
        "maximum_overload": lambda x, y: aten.max.other(x, y[:, :1]) * aten.min.other(y, x),
        "clamp": lambda x, y: x.clamp(-0.5, 0.75),
        "clamp_min": lambda x, y: x.clamp_min(0.1),
        "clamp_max": lambda x, y: aten.clamp_max(x, 0.1),
        "clamp_tensors": lambda x, y: torch.clamp(x, y - 0.5, y.detach() + 0.5),
        "clamp_max_tensor": lambda x, y: aten.clamp_max.Tensor(x, y) + aten.clamp_min.Tensor(y, x),
        "clamp_constants": lambda x, y: torch.clamp(x, y.detach() - 0.5, y.detach() + 0.5),
        "where": lambda x, y: torch.where(y > 0, x, y),
        "where_row": lambda x, y: torch.where(x > 0, y[:, :1], x),
        "where_number": lambda x, y: aten.where.ScalarOther(y > 0, x, 2.0) + aten.where.ScalarSelf(y > 1, 2.0, x),
        "masked_fill": lambda x, y: x.masked_fill(y > 0, 0.5),
        "masked_fill_tensor": lambda x, y: y.masked_fill(y > 0, x.sum()),
        "pow_2": lambda x, y: x**2,
        "pow_half": lambda x, y: positive(x) ** 0.5,
        "pow_minus": lambda x, y: positive(x) ** -1.5,
        "pow_0": lambda x, y: x**0 + x**1,
        "pow_tensors": lambda x, y: positive(x) ** y.tanh(),
        "pow_of_number": lambda x, y: aten.pow.Scalar(2, x),
        "atan2": lambda x, y: torch.atan2(x, positive(y)),
        "copysign": lambda x, y: torch.copysign(x, y.detach()),
        "fmax": lambda x, y: torch.fmax(x, y),
        "fmin": lambda x, y: torch.fmin(x, y),
        "fmod": lambda x, y: torch.fmod(x, 0.7),
        "remainder": lambda x, y: torch.remainder(x, 0.7),
        "fmod_tensors": lambda x, y: torch.fmod(x, positive(y)),
        "remainder_tensors": lambda x, y: torch.remainder(x, positive(y)),
        "fill": lambda x, y: aten.fill.Tensor(y, x.mean()) * y,
        "hypot": lambda x, y: torch.hypot(x, positive(y)),
        "lerp": lambda x, y: torch.lerp(x, y, 0.3),
        "lerp_tensors": lambda x, y: torch.lerp(y, x, y.sigmoid()),
        "logaddexp": lambda x, y: torch.logaddexp(x, y),
        "logaddexp2": lambda x, y: torch.logaddexp2(y, x),
        "xlogy_numbers": lambda x, y: torch.xlogy(x, 2.0) + torch.xlogy(2.0, positive(x)),
        "xlogy": lambda x, y: torch.xlogy(x, positive(y)),
    }


class Shapes(EachOperator):
    """What moves elements, takes and joins them."""

    operators: ClassVar = {
        "view": lambda x, y: x.view(SAMPLES, ROWS, 6, 4).transpose(1, 2).reshape(SAMPLES, 6 * ROWS, 4),
        "unsafe_view": lambda x, y: aten._unsafe_view(x, [SAMPLES * ROWS, WIDTH]),
        "flatten": lambda x, y: x.flatten(1),
        "unflatten": lambda x, y: x.unflatten(1, (2, 4)),
        "squeeze": lambda x, y: (
            x[:, 2:3].squeeze(1) + x[:, :1].unsqueeze(0).squeeze() + aten.squeeze.dims(x[:, :1], [1])
        ),
        "expand": lambda x, y: x[:, :1].expand(-1, ROWS, -1) + x[0, 0].expand(SAMPLES, ROWS, -1),
        "permute": lambda x, y: x.permute(2, 0, 1),
        "permute_back": lambda x, y: x.permute(1, -1, 0).transpose(-1, -2),
        "t": lambda x, y: x[0].t(),
        "numpy_t": lambda x, y: aten.numpy_T(x),
        "repeat": lambda x, y: x.repeat(2, 3, 1, 1),
        "repeat_features": lambda x, y: x.repeat(1, 1, 2),
        "repeat_interleave": lambda x, y: x.repeat_interleave(3, 1),
        "repeat_interleave_features": lambda x, y: x.repeat_interleave(2, -1),
        "flip": lambda x, y: x.flip(1) + x.flip(0, 2),
        "roll": lambda x, y: x.roll(3, 1) + x.roll((1, -2), (0, 2)),
        "roll_all": lambda x, y: x.roll(5),
        "slice": lambda x, y: x[:, 2:5],
        "slice_features": lambda x, y: x[..., 4:-3],
        "slice_steps": lambda x, y: x[:, 1::3],
        "slice_samples": lambda x, y: x[1:4],
        "select": lambda x, y: x[:, -2] + x[2, :6] + x[..., 5][:, :6, None],
        "pad": lambda x, y: functional.pad(x, (2, -3, 1, 1)),
        "pad_value": lambda x, y: functional.pad(x, (0, 0, -2, 1), value=2.0),
        "pad_reflect": lambda x, y: functional.pad(lines(x), (2, 1), mode="reflect"),
        "pad_replicate": lambda x, y: functional.pad(images(x), (2, 1, 1, 0), mode="replicate"),
        "pad_circular": lambda x, y: functional.pad(lines(x), (2, 1), mode="circular"),
        "tril": lambda x, y: x.tril(-1) + x.triu(2),
        "cat": lambda x, y: torch.cat([x, y, x[:, :2]], 1),
        "cat_features": lambda x, y: torch.cat([y, x], -1),
        "cat_samples": lambda x, y: torch.cat([x[:2], y, x[3:]]),
        "stack": lambda x, y: torch.stack([x, y, x * 2], 1),
        "stack_last": lambda x, y: torch.stack([y, x], -1),
        "split": lambda x, y: x.split(5, 1)[1] * x.split(3, 1)[2].sum() + x.split(5, 1)[0][:, 1:4],
        "split_sizes": lambda x, y: x.split([1, 2, 5], 1)[1],
        "chunk": lambda x, y: x.chunk(2, 1)[0] * x.chunk(2, 1)[1],
        "tensor_split": lambda x, y: torch.tensor_split(x, 3, 1)[0] + torch.tensor_split(x, [2, 5], 1)[1],
        "unbind": lambda x, y: x.unbind(1)[2] + x.unbind(1)[5],
        "unfold": lambda x, y: x.unfold(1, 3, 2),
        "diagonal": lambda x, y: x.diagonal(dim1=1, dim2=2),
        "rot90": lambda x, y: x.rot90(1, (1, 2)),
        "pixel_shuffle": lambda x, y: functional.pixel_shuffle(x.view(SAMPLES, ROWS, 6, 4), 2),
        "pixel_unshuffle": lambda x, y: functional.pixel_unshuffle(images(x), 2),
        "channel_shuffle": lambda x, y: functional.channel_shuffle(lines(x), 4),
        "im2col": lambda x, y: functional.unfold(images(x), 3, padding=1),
        "col2im": lambda x, y: functional.fold(lines(x), (3, 5), 2),
        "select_scatter": lambda x, y: aten.select_scatter(y, x[:, 0], 1, 2) + aten.select_scatter(x, y[:, 0], 1, 2),
        "slice_scatter": lambda x, y: (
            aten.slice_scatter(y, x[:, :3], 1, 2, 5) + aten.slice_scatter(x, y[:, :3], 1, 2, 5)
        ),
        "new": lambda x, y: (
            x * x.new_ones(WIDTH) + torch.zeros_like(x) + x.new_full((WIDTH,), 2.0) + torch.full_like(x, 3)
        ),
        "diff": lambda x, y: x.diff(dim=1),
    }


class Reductions(EachOperator):
    """Sums, extremes, statistics, running sums, softmax and norms, of each dim."""

    operators: ClassVar = {
        "sum": lambda x, y: (x.sum() * y).view(-1),
        "sum_rows": lambda x, y: x.sum(1),
        "sum_features": lambda x, y: x.sum((0, -1)),
        "sum_dtype": lambda x, y: x.sum(1, dtype=torch.float32).to(x.dtype),
        "mean": lambda x, y: (x.mean() * y).view(-1),
        "mean_rows": lambda x, y: x.mean(1, keepdim=True),
        "mean_features": lambda x, y: x.mean((0, -1)),
        "amax": lambda x, y: x.amax(1) + x.amin(1),
        "amax_features": lambda x, y: x.relu().amax((0, 2)) + x.amin(-1).amax(0),
        "amax_of_equals": lambda x, y: (x[:, :4].repeat(1, 2, 1)).amax(1),
        "max_all": lambda x, y: (x.max() + x.min() * y).view(-1),
        "logsumexp": lambda x, y: x.logsumexp(1) + x.logsumexp((0, 1)),
        "logsumexp_features": lambda x, y: x.logsumexp(-1, keepdim=True),
        "var": lambda x, y: x.var(1) + x.var((0, 1), correction=0),
        "var_features": lambda x, y: x.var(-1, keepdim=True),
        "std": lambda x, y: x.std(1) + x.std((0, 1), correction=0),
        "std_features": lambda x, y: x.std(-1, keepdim=True),
        "var_mean": lambda x, y: sum(torch.var_mean(x, 1)),
        "std_mean": lambda x, y: sum(torch.std_mean(x, -1)),
        "cumsum": lambda x, y: x.cumsum(1) + x.cumsum(-1),
        "cumprod": lambda x, y: chance(x).cumprod(1),
        "cummax": lambda x, y: x.cummax(1)[0] + x.cummin(0)[0],
        "logcumsumexp": lambda x, y: x.logcumsumexp(1),
        "prod": lambda x, y: positive(x).prod(1),
        "prod_features": lambda x, y: positive(x[..., :5]).prod(-1),
        "prod_all": lambda x, y: (positive(x[0, 0, :5]).prod() * y).view(-1),
        "norm": lambda x, y: x.norm(dim=1),
        "vector_norm": lambda x, y: torch.linalg.vector_norm(x, 3, (0, 2)),
        "linalg_norm": lambda x, y: torch.linalg.norm(x, dim=1) + aten.norm.ScalarOpt_dim(x, 2, [1]),
        "norm_all": lambda x, y: (x.norm() * y).view(-1),
        "nansum": lambda x, y: x.nansum(1) + x.nanmean(1),
        "median": lambda x, y: x.median(1)[0],
        "median_all": lambda x, y: (x.median() * y).view(-1),
        "trace": lambda x, y: (x[0].float().trace().to(y.dtype) * y).view(-1),
        "softmax": lambda x, y: x.softmax(1),
        "softmax_features": lambda x, y: x.softmax(-1),
        "softmax_dtype": lambda x, y: x.softmax(-1, dtype=torch.float32).to(x.dtype),
        "softmax_core": lambda x, y: aten._softmax(x, 1, False) + aten._log_softmax(x, -1, False),
        "log_softmax": lambda x, y: x.log_softmax(1),
        "layer_norm": lambda x, y: functional.layer_norm(x, (WIDTH,), y[0, 0], y[0, 1]),
        "layer_norm_two": lambda x, y: functional.layer_norm(x, (ROWS, WIDTH)),
        "layer_norm_core": lambda x, y: aten.native_layer_norm(x, [WIDTH], y[0, 0], None, 1e-5)[0],
        "rms_norm": lambda x, y: functional.rms_norm(x, (WIDTH,), y[0, 0], 1e-5),
        "rms_norm_plain": lambda x, y: functional.rms_norm(x, (WIDTH,)),
        "rms_norm_core": lambda x, y: aten._fused_rms_norm(x, [WIDTH], y[0, 0], 1e-5)[0],
        "batch_norm": lambda x, y: functional.batch_norm(
            lines(x), y[0, 0].detach(), positive(y[0, 1].detach()), y[0, 2], y[0, 3]
        ),
        "batch_norm_plain": lambda x, y: functional.batch_norm(
            x.flatten(0, 1), y[0, 0].detach(), positive(y[0, 1].detach())
        ),
        "batch_norm_core": lambda x, y: aten._native_batch_norm_legit_no_training(
            lines(x), y[0, 0], None, y[0, 0].detach(), positive(y[0, 1].detach()), 0.1, 1e-5
        )[0],
        "group_norm": lambda x, y: functional.group_norm(lines(x), 4, y[0, 0], y[0, 1]),
        "instance_norm": lambda x, y: functional.instance_norm(lines(x)),
    }


class Places(EachOperator):
    """Elements at indices that tensors give, and orders of elements."""

    operators: ClassVar = {
        "embedding": lambda x, y: functional.embedding(indices(ROWS, 5, 4), x[0]),
        "embedding_padding": lambda x, y: functional.embedding(indices(ROWS, 5, 4), x[0], padding_idx=3),
        "embedding_last": lambda x, y: functional.embedding(indices(ROWS, 9), x[0], padding_idx=-1),
        "embedding_frequency": lambda x, y: functional.embedding(indices(ROWS, 9), x[0], scale_grad_by_freq=True),
        "gather": lambda x, y: x.gather(1, indices(ROWS, SAMPLES, 5, WIDTH)),
        "gather_features": lambda x, y: x.gather(-1, indices(WIDTH, SAMPLES, ROWS, 9)),
        "gather_some": lambda x, y: x.gather(1, indices(ROWS, 4, 5, WIDTH)),
        "take_along_dim": lambda x, y: x.take_along_dim(indices(ROWS, SAMPLES, 5, 1) - ROWS // 2, 1),
        "index_select": lambda x, y: x.index_select(1, indices(ROWS, 11)),
        "index_select_features": lambda x, y: x.index_select(-1, indices(WIDTH, 11)),
        "scatter": lambda x, y: y.scatter(1, indices(ROWS, SAMPLES, 1, WIDTH), x[:, :1]),
        "scatter_into": lambda x, y: x.scatter(1, indices(ROWS, SAMPLES, 1, WIDTH), y[:, :1]),
        "scatter_value": lambda x, y: x.scatter(-1, indices(WIDTH, SAMPLES, ROWS, 3), 2.0),
        "scatter_add": lambda x, y: y.scatter_add(1, indices(ROWS, SAMPLES, ROWS, WIDTH), x),
        "scatter_add_part": lambda x, y: x.scatter_add(1, indices(ROWS, SAMPLES, 3, WIDTH), y[:, :3]),
        "scatter_reduce": lambda x, y: y.scatter_reduce(1, indices(ROWS, SAMPLES, ROWS, WIDTH), x, "sum"),
        "index_add": lambda x, y: y.index_add(1, indices(ROWS, 5), x[:, :5], alpha=2),
        "index_add_into": lambda x, y: x.index_add(-1, indices(WIDTH, 5), y[..., :5]),
        "index_copy": lambda x, y: y.index_copy(1, torch.tensor([5, 2]), x[:, :2]),
        "index_fill": lambda x, y: x.index_fill(1, torch.tensor([5, 2]), 1.5),
        "index": lambda x, y: x[indices(SAMPLES, 7), indices(ROWS, 7)],
        "index_rows": lambda x, y: x[:, indices(ROWS, 3, 4)],
        "index_features": lambda x, y: x[..., indices(WIDTH, 10)],
        "index_table": lambda x, y: x[0][torch.tensor([[2, -1, 0], [0, 2, -3]])],
        "index_apart": lambda x, y: x[indices(SAMPLES, 4), :, indices(WIDTH, 4)],
        "index_put": lambda x, y: aten.index_put(y, [None, torch.tensor([5, 2])], x[:, :2]),
        "index_put_add": lambda x, y: aten.index_put(x, [indices(SAMPLES, 9)], y[0, 0], True),
        "topk": lambda x, y: x.topk(5, -1)[0],
        "topk_rows": lambda x, y: x.topk(3, 1, largest=False)[0],
        "sort": lambda x, y: x.sort(1)[0],
        "sort_stable": lambda x, y: torch.sort(x, stable=True, dim=-1, descending=True)[0],
        "max_dim": lambda x, y: x.max(1)[0] + x.min(1, keepdim=True)[0].squeeze(1),
        "kthvalue": lambda x, y: x.kthvalue(3, 1)[0],
        "median_dim": lambda x, y: x.median(1, keepdim=True)[0],
        "mode": lambda x, y: x.mode(1)[0],
        "one_hot": lambda x, y: x * functional.one_hot(x.argmax(-1), WIDTH),
        "argsort": lambda x, y: x.gather(1, x.argsort(1)[:, :2]),
        "bucketize": lambda x, y: x * torch.bucketize(x.detach(), torch.tensor([-1.0, 0.0, 1.0]).to(x.dtype)),
    }


class Matrices(EachOperator):
    """Products, and what is made of matrices."""

    operators: ClassVar = {
        "mm": lambda x, y: x[0] @ y[0].t(),
        "mm_turned": lambda x, y: torch.mm(y[0].t(), x[0]),
        "bmm": lambda x, y: torch.bmm(x, y.transpose(1, 2)),
        "bmm_turned": lambda x, y: torch.bmm(x.transpose(1, 2), y),
        "matmul": lambda x, y: torch.matmul(x, y[0].t()),
        "matmul_broadcast": lambda x, y: torch.matmul(y[0], x.transpose(1, 2).unsqueeze(1)),
        "matmul_vector": lambda x, y: torch.matmul(x, y[0, 0]),
        "matmul_of_vector": lambda x, y: torch.matmul(y[0, :, 0], x),
        "mv": lambda x, y: torch.mv(x[0], y[0, 0]),
        "dot": lambda x, y: (torch.dot(x[0, 0], y[0, 0]) * y).view(-1),
        "vectors": lambda x, y: (torch.matmul(x[0, 0], y[0, 0]) * y).view(-1),
        "linear": lambda x, y: functional.linear(y, x[0], x[0, :, 0]),
        "linear_sample": lambda x, y: functional.linear(x[0, 0], y[0], y[0, :, 0]),
        "linear_vector": lambda x, y: functional.linear(x, y[0, 0]),
        "addmm": lambda x, y: torch.addmm(y[0, 0, :ROWS], x[0], y[0].t(), beta=0.5, alpha=2),
        "addmv": lambda x, y: torch.addmv(y[0, :, 0], x[0], y[0, 0]),
        "baddbmm": lambda x, y: torch.baddbmm(y[:, :1, :ROWS], x, y.transpose(1, 2), beta=0.5, alpha=2),
        "einsum": lambda x, y: torch.einsum("brf,bsf->brs", x, y),
        "einsum_summed": lambda x, y: torch.einsum("brf,sf->bs", x, y[0]),
        "einsum_lost": lambda x, y: torch.einsum("brf,bs->bf", x, y[..., 0]),
        "einsum_dots": lambda x, y: torch.einsum("...f,gf->...g", x, y[0]),
        "einsum_diagonal": lambda x, y: torch.einsum("brr->br", x[..., :ROWS]),
        "einsum_three": lambda x, y: torch.einsum("brf,bsf,rs->br", x, y, y[0, :, :ROWS]),
        "outer": lambda x, y: torch.outer(x[0, 0], y[0, 0]),
        "inner": lambda x, y: torch.inner(x, y[0]),
        "vdot": lambda x, y: (torch.vdot(x[0, 0], y[0, 0]) * y).view(-1),
        "bilinear": lambda x, y: functional.bilinear(x, y[:, :, :4], y.view(-1)[: 5 * WIDTH * 4].view(5, WIDTH, 4)),
        "cross": lambda x, y: torch.linalg.cross(x[:, :3], y[:, :3], dim=1),
        "cdist": lambda x, y: torch.cdist(x.float(), y.float()),
        "pairwise": lambda x, y: functional.pairwise_distance(x, y),
        "cosine": lambda x, y: functional.cosine_similarity(x, y, dim=-1),
        "det": lambda x, y: torch.linalg.det(x[..., :ROWS].float() + 4 * torch.eye(ROWS)),
        "inverse": lambda x, y: torch.linalg.inv(x[..., :ROWS].float() + 4 * torch.eye(ROWS)),
        "cholesky": lambda x, y: torch.linalg.cholesky((x @ x.mT).float() + torch.eye(ROWS)),
        "attention": lambda x, y: functional.scaled_dot_product_attention(
            *(side.view(SAMPLES, ROWS, 6, 4).transpose(1, 2) for side in (x, y, x)), is_causal=True
        ),
        "attention_mask": lambda x, y: functional.scaled_dot_product_attention(
            *(side.view(SAMPLES, ROWS, 6, 4).transpose(1, 2) for side in (y, x, y)), attn_mask=x[0, :, :ROWS]
        ),
        "grouped_mm": lambda x, y: functional.scaled_dot_product_attention(
            x.view(SAMPLES, ROWS, 6, 4).transpose(1, 2),
            *(side[..., :8].view(SAMPLES, ROWS, 2, 4).transpose(1, 2) for side in (y, x)),
            enable_gqa=True,
        ),
    }


class Windows(EachOperator):
    """Convolutions, pools and what makes images larger."""

    operators: ClassVar = {
        "conv1d": lambda x, y: functional.conv1d(lines(x), y[:4, :3].permute(0, 2, 1), padding=1, dilation=1),
        "conv1d_same": lambda x, y: functional.conv1d(lines(x), y[:4, :3].permute(0, 2, 1), padding="same"),
        "conv1d_strided": lambda x, y: functional.conv1d(
            lines(y), lines(x)[:5, :, :3], stride=2, dilation=2, padding=2
        ),
        "conv1d_groups": lambda x, y: functional.conv1d(lines(x), y[:, :3, :4].transpose(1, 2), y[0, 0, :6], groups=6),
        "conv1d_rows": lambda x, y: lines(functional.conv1d(lines(x), y[:3].transpose(0, 2), padding=1, groups=3)),
        "conv2d": lambda x, y: functional.conv2d(images(x), images(y)[:4, :, :3, :3], y[0, 0, :4], padding=(1, 2)),
        "conv2d_same": lambda x, y: functional.conv2d(images(y), images(x)[:4, :, :3, :3], padding="same"),
        "conv2d_single": lambda x, y: functional.conv2d(images(x)[0], images(y)[:4, :, :3, :3]),
        "conv3d": lambda x, y: functional.conv3d(volumes(x), volumes(y)[:3, :, :2, :2, :2], y[0, 0, :3]),
        "convolution": lambda x, y: aten.convolution(
            images(x), images(y)[:4, :, :3, :3], None, [2, 1], [1, 1], [1, 1], False, [0, 0], 1
        ),
        "convolution_transposed": lambda x, y: aten.convolution(
            images(x), images(y)[:, :, :3, :3], None, [2, 1], [1, 1], [1, 1], True, [1, 0], 1
        ),
        "conv_transpose1d": lambda x, y: functional.conv_transpose1d(lines(x), y[:3].permute(2, 0, 1), stride=2),
        "conv_transpose2d": lambda x, y: functional.conv_transpose2d(
            images(x), images(y)[:, :, :3, :3], y[0, 0, :6], stride=2
        ),
        "conv_transpose3d": lambda x, y: functional.conv_transpose3d(volumes(x), volumes(y)[:, :, :2, :2, :2]),
        "avg_pool1d": lambda x, y: functional.avg_pool1d(lines(x), 2),
        "avg_pool2d": lambda x, y: functional.avg_pool2d(images(x), 3, stride=2, padding=1),
        "avg_pool3d": lambda x, y: functional.avg_pool3d(volumes(x).float(), 2, stride=1),
        "max_pool1d": lambda x, y: functional.max_pool1d(lines(x), 2),
        "max_pool2d": lambda x, y: functional.max_pool2d(images(x), 3, stride=2, padding=1),
        "max_pool2d_indices": lambda x, y: aten.max_pool2d_with_indices(images(x), [2, 2])[0],
        "max_pool3d": lambda x, y: functional.max_pool3d(volumes(x), 2, stride=1),
        "adaptive_avg_pool": lambda x, y: functional.adaptive_avg_pool2d(images(x), (3, 2)),
        "adaptive_avg_pool1d": lambda x, y: functional.adaptive_avg_pool1d(lines(x), 4),
        "adaptive_avg_pool3d": lambda x, y: functional.adaptive_avg_pool3d(volumes(x), (3, 2, 1)),
        "adaptive_max_pool1d": lambda x, y: functional.adaptive_max_pool1d(lines(x), 3),
        "adaptive_max_pool": lambda x, y: functional.adaptive_max_pool2d(images(x), (3, 2)),
        "nearest": lambda x, y: functional.interpolate(images(x), scale_factor=2, mode="nearest"),
        "nearest1d": lambda x, y: functional.interpolate(lines(x), size=13, mode="nearest"),
        "nearest3d": lambda x, y: functional.interpolate(volumes(x), scale_factor=2, mode="nearest"),
        "nearest_exact": lambda x, y: functional.interpolate(lines(x), size=13, mode="nearest-exact"),
        "bilinear": lambda x, y: functional.interpolate(images(x), scale_factor=2, mode="bilinear"),
        "bicubic": lambda x, y: functional.interpolate(images(x), size=(5, 20), mode="bicubic", align_corners=True),
        "linear": lambda x, y: functional.interpolate(lines(x), size=13, mode="linear"),
        "trilinear": lambda x, y: functional.interpolate(volumes(x), scale_factor=2, mode="trilinear"),
    }


class LossKinds(EachOperator):
    """Losses of elements and rows, and the cells of recurrent layers."""

    operators: ClassVar = {
        "mse": lambda x, y: functional.mse_loss(x, y, reduction="none"),
        "mse_mean": lambda x, y: (functional.mse_loss(y, x) * y).view(-1),
        "l1": lambda x, y: functional.l1_loss(x, y, reduction="none"),
        "smooth_l1": lambda x, y: functional.smooth_l1_loss(x, y, reduction="none", beta=0.5),
        "huber": lambda x, y: (functional.huber_loss(x, y, reduction="sum") * y).view(-1),
        "soft_margin": lambda x, y: functional.soft_margin_loss(x, y.detach().sign(), reduction="none"),
        "bce": lambda x, y: functional.binary_cross_entropy(chance(x), chance(y), reduction="none"),
        "bce_logits": lambda x, y: functional.binary_cross_entropy_with_logits(x, chance(y), reduction="none"),
        "kl_div": lambda x, y: functional.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="none"),
        "cross_entropy": lambda x, y: functional.cross_entropy(
            x.flatten(0, 1), indices(WIDTH, SAMPLES * ROWS), reduction="none", label_smoothing=0.1
        ),
        "cross_entropy_mean": lambda x, y: (functional.cross_entropy(lines(x), indices(WIDTH, SAMPLES, ROWS)) * y).view(
            -1
        ),
        "cross_entropy_rows": lambda x, y: functional.cross_entropy(x, indices(ROWS, SAMPLES, WIDTH), reduction="none"),
        "cross_entropy_ignored": lambda x, y: (
            functional.cross_entropy(x.flatten(0, 1), indices(WIDTH, SAMPLES * ROWS), ignore_index=3) * y
        ).view(-1),
        "nll": lambda x, y: functional.nll_loss(x.log_softmax(1), indices(ROWS, SAMPLES, WIDTH), reduction="none"),
        "lstm": lambda x, y: aten.lstm.input(
            x,
            [y[:1, :SAMPLES, :4], y[1:2, :SAMPLES, :4]],
            [y[:2].reshape(16, WIDTH), y[2, :, :8].reshape(16, 4), y[3, 0, :16], y[3, 1, :16]],
            True,
            1,
            0.0,
            False,
            False,
            True,
        )[0],
        "gru": lambda x, y: aten.gru.input(
            x,
            y[:1, :SAMPLES, :4],
            [x[:2, :6].reshape(12, WIDTH), y[2, :, :6].reshape(12, 4), y[3, 0, :12], x[3, 1, :12]],
            True,
            1,
            0.0,
            False,
            False,
            True,
        )[0],
        "rnn_tanh": lambda x, y: aten.rnn_tanh.input(
            x, y[:1, :SAMPLES, :4], [y[2, :4], y[3, :4, :4]], False, 1, 0.0, False, False, True
        )[0],
        "rnn_relu": lambda x, y: aten.rnn_relu.input(
            x, y[:1, :SAMPLES, :4], [y[2, :4], y[3, :4, :4]], False, 1, 0.0, False, False, True
        )[0],
        "rnn_tanh_cell": lambda x, y: aten.rnn_tanh_cell(
            x[0], y[0, :, :4], y[2, :4], y[3, :4, :4], x[3, 0, :4], y[3, 1, :4]
        ),
        "lstm_cell": lambda x, y: aten.lstm_cell(
            x[0],
            [y[0, :, :4], y[1, :, :4]],
            y[:2].reshape(16, WIDTH),
            y[2, :, :8].reshape(16, 4),
            x[3, 0, :16],
            y[3, 1, :16],
        )[0],
        "lstm_cell of one state": lambda x, y: aten.lstm_cell(
            x[0], [y[0, :, :4]] * 2, y[:2].reshape(16, WIDTH), y[2, :, :8].reshape(16, 4)
        )[0],
        "gru_cell": lambda x, y: aten.gru_cell(
            x[0], y[0, :, :4], y[:2, :6].reshape(12, WIDTH), y[2, :, :6].reshape(12, 4), y[3, 0, :12], x[3, 1, :12]
        ),
    }


DERIVATIVE_MODULES: dict[str, type[nn.Module]] = {
    "each_arithmetic": Arithmetic,
    "each_function": Functions,
    "each_loss": LossKinds,
    "each_matrix": Matrices,
    "each_place": Places,
    "each_reduction": Reductions,
    "each_shape": Shapes,
    "each_window": Windows,
}
