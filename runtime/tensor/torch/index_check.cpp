//===- index_check.cpp - indices out of range -----------------------------===//

#include "runtime/tensor/torch/index_check.h"

#include "runtime/base/names.h"
#include "runtime/tensor/torch/access.h"

#include <ATen/ATen.h>
#include <algorithm>

using namespace meshplan;

namespace {
/// What bounds the indices.
enum class Bound : uint8_t {
  number,   ///< an integer argument
  rows,     ///< the first dim of a tensor
  classes,  ///< its second dim, or the only one
  dim,      ///< the dim given by the argument "dim"
  elements, ///< the number of its elements
  each      ///< for a list of indices: the dim of its position
};

/// Which indices outside [0, bound) are valid.
enum class Beside : uint8_t {
  none,
  ignored, ///< the argument "ignore_index"
  fromEnd  ///< negative ones, which count from the end
};
} // namespace

/// An operator without overload name, its arguments with indices, and the bound.
struct meshplan::IndexRule {
  std::string_view name, indices, bounds;
  Bound bound;
  Beside beside = Beside::none;
};

static constexpr int64_t defaultIgnored = -100; // the default of PyTorch's losses

static constexpr IndexRule rules[] = {
    {"meshplan.embedding", "indices", "rows", Bound::number},
    {"meshplan.gather_part", "index", "size", Bound::number},
    {"meshplan.scatter_part", "index", "size", Bound::number},
    {"meshplan.token_loss", "target", "classes", Bound::number, Beside::ignored},
    {"meshplan.class_weight", "target", "weight", Bound::rows, Beside::ignored},
    {"aten.embedding", "indices", "weight", Bound::rows},
    {"aten.embedding_bag", "indices", "weight", Bound::rows},
    {"aten._embedding_bag", "indices", "weight", Bound::rows},
    {"aten.cross_entropy_loss", "target", "self", Bound::classes, Beside::ignored},
    {"aten.nll_loss_nd", "target", "self", Bound::classes, Beside::ignored},
    {"aten.nll_loss", "target", "self", Bound::classes, Beside::ignored},
    {"aten.nll_loss_forward", "target", "self", Bound::classes, Beside::ignored},
    {"aten.nll_loss2d", "target", "self", Bound::classes, Beside::ignored},
    {"aten.nll_loss2d_forward", "target", "self", Bound::classes, Beside::ignored},
    {"aten.gather", "index", "self", Bound::dim},
    {"aten.index_select", "index", "self", Bound::dim},
    {"aten.index_add", "index", "self", Bound::dim},
    {"aten.index_copy", "index", "self", Bound::dim},
    {"aten.index_fill", "index", "self", Bound::dim, Beside::fromEnd},
    {"aten.scatter", "index", "self", Bound::dim},
    {"aten.scatter_add", "index", "self", Bound::dim},
    {"aten.scatter_reduce", "index", "self", Bound::dim},
    {"aten.take", "index", "self", Bound::elements, Beside::fromEnd},
    {"aten.index", "indices", "self", Bound::each, Beside::fromEnd},
    {"aten.index_put", "indices", "self", Bound::each, Beside::fromEnd},
};

static const ArgumentContent *contentOf(std::span<const Argument> arguments, std::string_view name) {
  auto found = std::ranges::find(arguments, name, &Argument::name);
  return found == arguments.end() ? nullptr : &found->content;
}

static int64_t integerOf(const ArgumentContent *content, int64_t otherwise) {
  const auto *integer = content ? std::get_if<int64_t>(content) : nullptr;
  return integer ? *integer : otherwise;
}

static std::vector<int> tensorsOf(const ArgumentContent *content) {
  if (!content)
    return {};
  if (const auto *one = std::get_if<ValueArgument>(content))
    return {one->value};
  const auto *list = std::get_if<ValueListArgument>(content);
  return list ? list->values : std::vector<int>();
}

/// False if nothing bounds the indices.
bool IndexCheck::bind(std::span<const Argument> arguments) {
  indices = tensorsOf(contentOf(arguments, rule->indices));
  dim = integerOf(contentOf(arguments, "dim"), 0);
  if (rule->beside == Beside::ignored)
    ignored = integerOf(contentOf(arguments, "ignore_index"), defaultIgnored);
  const ArgumentContent *bounds = contentOf(arguments, rule->bounds);
  if (rule->bound == Bound::number)
    return (number = integerOf(bounds, -1)) >= 0;
  std::vector<int> tensors = tensorsOf(bounds);
  sized = tensors.size() == 1 ? tensors.front() : -1;
  return sized >= 0;
}

std::optional<IndexCheck> IndexCheck::of(std::string_view target, std::span<const Argument> arguments) {
  const auto *rule = std::ranges::find(rules, withoutOverload(target), &IndexRule::name);
  if (rule == std::end(rules))
    return std::nullopt;
  IndexCheck check(*rule);
  return check.bind(arguments) ? std::optional(std::move(check)) : std::nullopt;
}

bool IndexCheck::comesFirst(std::span<const Tensor> values) const {
  // On a GPU these kernels end the process with an assertion, after which no message is possible.
  bool isFatal = rule->name.starts_with("aten.") && (rule->bound == Bound::rows || rule->bound == Bound::classes);
  return isFatal && indices.size() == 1 && indices.front() >= 0 && !unwrap(values[indices.front()]).is_cpu();
}

/// The bound of tensor `which`; -1 if its shape is wrong, which the operator itself reports.
int64_t IndexCheck::sizeFor(size_t which, std::span<const Tensor> values) const {
  if (rule->bound == Bound::number)
    return number;
  std::span<const int64_t> shape = values[sized].shape();
  int64_t dims = static_cast<int64_t>(shape.size());
  if (rule->bound == Bound::elements)
    return values[sized].elementCount();
  // `rows` is the first dim.
  int64_t indexed = 0;
  if (rule->bound == Bound::classes)
    indexed = std::min<int64_t>(dims - 1, 1);
  if (rule->bound == Bound::dim)
    indexed = dim < 0 ? dim + dims : dim;
  if (rule->bound == Bound::each)
    indexed = static_cast<int64_t>(which);
  return indexed >= 0 && indexed < dims ? shape[indexed] : -1;
}

static std::vector<int64_t> firstPosition(const at::Tensor &tensor) {
  // Rows of `nonzero` are in row-major order, so the first one is the first position.
  at::Tensor first = tensor.nonzero()[0].cpu().contiguous();
  return {first.const_data_ptr<int64_t>(), first.const_data_ptr<int64_t>() + first.numel()};
}

std::optional<IndexFault> IndexCheck::find(std::span<const Tensor> values) const {
  for (size_t which = 0; which < indices.size(); ++which) {
    if (indices[which] < 0)
      continue;
    const at::Tensor &own = unwrap(values[indices[which]]);
    // Byte and bool tensors are masks, and floats are class probabilities.
    if (!own.defined() || !at::isIntegralType(own.scalar_type(), /*includeBool=*/false) ||
        own.scalar_type() == at::kByte)
      break;
    int64_t size = sizeFor(which, values);
    if (size < 0 || own.numel() == 0)
      continue;
    // Some operators count negative indices from the end of the dim.
    int64_t begin = rule->beside == Beside::fromEnd ? -size : 0;
    // On the tensor's device: only one boolean is copied to the host in the common case.
    at::Tensor outside = own.lt(begin).logical_or_(own.ge(size));
    if (ignored)
      // The ignored class may be any number, usually -100.
      outside.logical_and_(own.ne(*ignored));
    if (!outside.any().item<bool>())
      continue;
    IndexFault fault{
        rule->beside == Beside::ignored ? "target" : "index", indices[which], firstPosition(outside), 0, begin, size};
    fault.index = own.masked_select(outside)[0].item<int64_t>();
    return fault;
  }
  return std::nullopt;
}

std::string meshplan::indexText(const IndexFault &fault) {
  return fault.name + " " + std::to_string(fault.index) + " at " + shapeText(fault.position) + " is out of range [" +
         std::to_string(fault.begin) + ", " + std::to_string(fault.end) + ")";
}
