//===- index_check.h - indices out of range ---------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_INDEX_CHECK_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_INDEX_CHECK_H

#include "runtime/tensor/operator.h"

#include <optional>

namespace meshplan {

struct IndexRule;

/// The valid indices of one call. For a sharded table the bound is that of the whole table.
class IndexCheck {
public:
  /// Nullopt for operators without index tensors, and if nothing bounds the indices.
  static std::optional<IndexCheck> of(std::string_view target, std::span<const Argument> arguments);

  /// True if the indices must be checked before the call: PyTorch's lookups and losses on a device end the process at a
  /// bad index. On the host, and in the runtime's kernels, the call fails, and the indices are examined afterwards.
  bool comesFirst(std::span<const Tensor> values) const;

  /// The first index out of range; nullopt if all are valid. Waits for the device.
  std::optional<IndexFault> find(std::span<const Tensor> values) const;

private:
  explicit IndexCheck(const IndexRule &rule) : rule(&rule) {}
  bool bind(std::span<const Argument> arguments);
  int64_t sizeFor(size_t which, std::span<const Tensor> values) const;

  const IndexRule *rule;
  std::vector<int> indices; // index tensors, by position in the list; -1: none
  int sized = -1;           // the tensor whose extent is the bound
  int64_t number = -1;      // the bound, if it is a number
  int64_t dim = 0;
  std::optional<int64_t> ignored;
};

/// "index 97 at [3, 5] is out of range [0, 97)".
std::string indexText(const IndexFault &fault);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_INDEX_CHECK_H
