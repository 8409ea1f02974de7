//===- elements.cpp - comparing elements ----------------------------------===//

#include "runtime/tensor/elements.h"

#include "runtime/base/names.h"
#include "runtime/tensor/torch/access.h"
#include "runtime/tensor/torch/dtype.h"
#include "runtime/tensor/torch/guard.h"
#include "runtime/tensor/torch/kernels/training/nonfinite.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <algorithm>
#include <cmath>
#include <limits>

using namespace meshplan;

Expected<Tensor> meshplan::converted(const Tensor &tensor, DType dtype) {
  return guarded([&]() -> Expected<Tensor> { return wrap(unwrap(tensor).to(scalarTypeOf(dtype))); });
}

/// A unit in the last place of 1.
static double unitOf(DType dtype) {
  switch (dtype) {
  case DType::bf16:
    return 0x1p-7;
  case DType::f16:
    return 0x1p-10;
  case DType::f32:
    return 0x1p-23;
  default:
    return 0x1p-52;
  }
}

Expected<Tensor> meshplan::withPerturbedRounding(const Tensor &tensor, uint64_t seed) {
  return guarded([&]() -> Expected<Tensor> {
    if (!isFloat(tensor.dtype()))
      return Status::error(StatusCode::invalid, "a tensor of ", dtypeName(tensor.dtype()), " cannot be rounded");
    constexpr double probability = 1.0 / 6, factor = 0.75; // a change by 1/2 to 3/2 units
    const at::Tensor &own = unwrap(tensor);
    at::Tensor drawn =
        at::rand(own.sizes(), at::make_generator<at::CPUGeneratorImpl>(seed), at::kFloat).to(own.device());
    // The factor needs more mantissa bits than the dtype has. Gradients pass through.
    at::Tensor wide = own.to(dtypeSize(tensor.dtype()) == 2 ? at::kFloat : at::kDouble);
    auto chosen = [&](const at::Tensor &truth) { return truth.to(wide.scalar_type()); };
    at::Tensor steps = chosen(drawn.gt(1 - probability)).sub_(chosen(drawn.lt(probability)));
    at::Tensor factors = steps.mul_(factor * unitOf(tensor.dtype())).add_(1);
    // An element that would overflow keeps its value, as it would in a computation that rounds in another way.
    factors.masked_fill_((wide.detach() * factors).to(own.scalar_type()).isfinite().logical_not_(), 1);
    return wrap((wide * factors).to(own.scalar_type()));
  });
}

Expected<double> meshplan::roundingOf(const Tensor &tensor) {
  if (tensor.dtype() != DType::f16 && tensor.dtype() != DType::bf16)
    return 0.0;
  return guarded([&]() -> Expected<double> {
    double largest = tensor.elementCount() == 0 ? 0 : unwrap(tensor).abs().max().item<double>();
    return largest > 0 && std::isfinite(largest)
               ? unitOf(tensor.dtype()) / 2 * std::exp2(std::floor(std::log2(largest)))
               : 0;
  });
}

bool meshplan::shareMemory(const Tensor &tensor, const Tensor &other) {
  return unwrap(tensor).is_alias_of(unwrap(other));
}

Expected<Tensor> meshplan::sumOf(const Tensor &tensor, const Tensor &other) {
  if (!std::ranges::equal(tensor.shape(), other.shape()) || tensor.dtype() != other.dtype())
    return Status::error(StatusCode::invalid, "cannot add ", describe(tensor), " and ", describe(other));
  return guarded([&]() -> Expected<Tensor> { return wrap(unwrap(tensor).add(unwrap(other))); });
}

Expected<Tensor> meshplan::dividedBy(const Tensor &tensor, double number) {
  return guarded([&]() -> Expected<Tensor> { return wrap(unwrap(tensor).div(number)); });
}

/// NaN becomes infinity: the error is undefined.
static double largestOf(const at::Tensor &errors) {
  double largest = errors.numel() == 0 ? 0 : errors.max().item<double>();
  return std::isnan(largest) ? std::numeric_limits<double>::infinity() : largest;
}

Expected<ElementErrors> meshplan::errorsOf(const Tensor &tensor, const Tensor &exact) {
  return guarded([&]() -> Expected<ElementErrors> {
    if (!std::ranges::equal(tensor.shape(), exact.shape()))
      return Status::error(StatusCode::invalid, "cannot compare ", describe(tensor), " with ", describe(exact));
    at::Tensor own = unwrap(tensor).to(at::kDouble), wide = unwrap(exact).to(own.device(), at::kDouble);
    // Equal infinities have no distance.
    at::Tensor errors = (own - wide).abs().masked_fill_(own.eq(wide), 0);
    // An element that equals the exact one, rounded once, cannot be computed better in this dtype.
    at::Tensor rounded = wide.to(unwrap(tensor).scalar_type()).to(at::kDouble);
    return ElementErrors{largestOf(errors), largestOf(errors.masked_fill(own.eq(rounded), 0))};
  });
}

Expected<double> meshplan::largestMagnitude(const Tensor &tensor) {
  return guarded([&]() -> Expected<double> {
    at::Tensor magnitudes = unwrap(tensor).to(at::kDouble).abs();
    return magnitudes.numel() == 0
               ? 0
               : magnitudes.masked_fill(magnitudes.isfinite().logical_not(), 0).max().item<double>();
  });
}

static std::optional<int64_t> firstTrue(const at::Tensor &flat) {
  at::Tensor indices = flat.nonzero();
  return indices.numel() == 0 ? std::nullopt : std::optional(indices[0].item<int64_t>());
}

Expected<NonfiniteElements> meshplan::nonfiniteIn(const Tensor &tensor, bool infinities) {
  return guarded([&]() -> Expected<NonfiniteElements> {
    NonfiniteElements found;
    if (!isFloat(tensor.dtype()))
      return found;
    // In pieces, because counting on a device takes a few bytes per element.
    constexpr int64_t atOnce = 1 << 22;
    at::Tensor flat = unwrap(tensor).detach().flatten();
    for (int64_t begin = 0; begin < flat.numel(); begin += atOnce) {
      at::Tensor piece = flat.narrow(0, begin, std::min(atOnce, flat.numel() - begin));
      if (nonfiniteCount(piece).item<int64_t>() == 0)
        continue;
      at::Tensor wrong = infinities ? piece.isfinite().logical_not() : piece.isnan();
      if (auto first = firstTrue(wrong); first && found.count == 0)
        found.first = begin + *first;
      found.count += wrong.sum().item<int64_t>();
    }
    return found;
  });
}

Expected<std::optional<int64_t>> meshplan::onlyIndexOf(const Tensor &tensor, int64_t number) {
  return guarded([&]() -> Expected<std::optional<int64_t>> {
    at::Tensor indices = unwrap(tensor).flatten().eq(number).nonzero();
    return indices.numel() == 1 ? std::optional(indices.item<int64_t>()) : std::nullopt;
  });
}

Expected<double> meshplan::normOf(std::span<const Tensor> tensors) {
  return guarded([&]() -> Expected<double> {
    std::vector<at::Tensor> norms;
    for (const Tensor &tensor : tensors)
      norms.push_back(at::linalg_vector_norm(unwrap(tensor)));
    return norms.empty() ? 0 : at::linalg_vector_norm(at::stack(norms)).item<double>();
  });
}
