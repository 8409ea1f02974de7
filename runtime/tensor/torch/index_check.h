//===- index_check.h - indices that point outside ----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_INDEX_CHECK_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_INDEX_CHECK_H

#include "runtime/tensor/operator.h"

#include <optional>

namespace meshplan {

struct IndexRule;

/// What the indices of one call may be. Of a divided table the bound is that of the whole one.
class IndexCheck {
public:
  /// Nothing for an operator that takes no tensors of indices, and where nothing bounds them.
  static std::optional<IndexCheck> of(std::string_view target, std::span<const Argument> arguments);

  /// True where they have to be right before the call: of tables and classes of losses, which PyTorch's operators on a
  /// device end the process for. On the host, and in kernels of the runtime, the call fails, and one looks afterwards.
  bool comesFirst(std::span<const Tensor> values) const;

  /// The first index that points outside; nothing if all are right. Waits for the device.
  std::optional<IndexFault> find(std::span<const Tensor> values) const;

private:
  explicit IndexCheck(const IndexRule &rule) : rule(&rule) {}
  bool bind(std::span<const Argument> arguments);
  int64_t sizeFor(size_t which, std::span<const Tensor> values) const;

  const IndexRule *rule;
  std::vector<int> indices; // by position in the list; -1: none
  int sized = -1;           // the tensor whose extent bounds them
  int64_t number = -1;      // or the bound itself
  int64_t dim = 0;
  std::optional<int64_t> ignored;
};

/// "index 97 at [3, 5] is out of range [0, 97)".
std::string indexText(const IndexFault &fault);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_INDEX_CHECK_H
