//===- operator.h - calling operators by name -------------------*- C++ -*-===//
//
// Calls operators by name. A name is an overload ("aten.linear.default") or a kernel of the runtime
// ("meshplan.attention", see README.md). The operator is looked up and its arguments are bound once; afterwards a call
// costs well under a microsecond more than a direct one.
//
// "vjp.<target>" computes gradients of tensor arguments of an operator, with the compute library's own derivative. It
// has the arguments of <target> and
//   gradients  list of tensors: the gradients of the results; None if there is none
//   of         string: the arguments whose gradients are the results, in order,
//              as "input, params.2"; the number is an index into a list of tensors
// A result has the shape and dtype of its argument. It is zero if nothing depends on the argument. It may alias one of
// `gradients`. The operator is run again for this, without writing to its arguments. It must not draw random numbers,
// because they would be other ones.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_OPERATOR_H
#define MESHPLAN_RUNTIME_TENSOR_OPERATOR_H

#include "runtime/tensor/tensor.h"

#include <memory>
#include <variant>

namespace meshplan {

/// A tensor argument: its index in the table of values that the call runs on.
struct ValueArgument {
  int value = -1;
};

/// A list of tensors; -1 is None.
struct ValueListArgument {
  std::vector<int> values;
};

/// std::monostate is None. A string is a device, layout or memory format if the schema has one there.
using ArgumentContent = std::variant<std::monostate, ValueArgument, ValueListArgument, int64_t, std::vector<int64_t>,
                                     double, std::vector<double>, bool, std::vector<bool>, std::string, DType>;

/// An argument, by its name in the operator's schema.
struct Argument {
  std::string name;
  ArgumentContent content;
};

/// An index that is out of range in a tensor of indices.
struct IndexFault {
  std::string name;              ///< name of the argument
  int value = -1;                ///< the tensor, by index into the table of values
  std::vector<int64_t> position; ///< position of the first such element
  int64_t index = 0;             ///< the element
  int64_t begin = 0, end = 0;    ///< the valid range [begin, end)
};

/// "aten.add" of "aten.add.Tensor".
inline std::string_view withoutOverload(std::string_view target) {
  return target.substr(0, target.find('.', target.find('.') + 1));
}

/// An operator with all its arguments bound. Used by one thread at a time.
class OperatorCall {
public:
  virtual ~OperatorCall() = default;

  /// Reads its tensors from `values` and stores its results there. On failure it returns the compute library's message
  /// and leaves `values` unchanged.
  virtual Status run(std::span<Tensor> values) = 0;

  /// The index that made the last call fail; null if it did not fail, or for another reason. On a device, an index of
  /// other operators than table lookups and losses may end the process.
  virtual const IndexFault *indexFault() const { return nullptr; }
};

/// Looks up `target` and binds `arguments`. An omitted argument has the schema's default, or None if it is optional.
/// `outputs` says where each result is stored, -1: nowhere; a list of tensors counts as that many results. `notFound`
/// for an unknown operator; `invalid` for an unknown, missing or ill-typed argument.
Expected<std::unique_ptr<OperatorCall>> prepareCall(std::string_view target, std::span<const Argument> arguments,
                                                    std::vector<int> outputs);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_OPERATOR_H
