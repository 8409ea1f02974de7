//===- operator.h - calling operators by name --------------------*- C++ -*-===//
//
// An operator is named by its overload ("aten.linear.default") or is a kernel
// of the runtime ("meshplan.attention", see README.md). It is looked up and its
// arguments are bound once; a call afterwards costs well under a microsecond
// over a direct one.
//
// "vjp.<target>" is the gradients of tensor arguments of an operator, by the
// compute library's own derivative. Its arguments are those of <target> and
//   gradients  list of tensors: those of the results, None where there is none
//   of         string: the arguments whose gradients are the results, in order,
//              as "input, params.2"; the number is a place in a list of tensors
// A result has the shape and element type of its argument, and is zero where
// nothing depends on it. It may share elements with one of `gradients`. The
// operator runs once more: it writes to none of its arguments this time, but
// random numbers would be others.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_OPERATOR_H
#define MESHPLAN_RUNTIME_TENSOR_OPERATOR_H

#include "runtime/tensor/tensor.h"

#include <memory>
#include <variant>

namespace meshplan {

/// A tensor argument: position in the table of values that the call runs on.
struct ValueArgument {
  int value = -1;
};

/// A list of tensors; -1 is None.
struct ValueListArgument {
  std::vector<int> values;
};

/// std::monostate is None. A string names a device, layout or memory format
/// where the schema asks for one.
using ArgumentContent = std::variant<std::monostate, ValueArgument, ValueListArgument, int64_t, std::vector<int64_t>,
                                     double, std::vector<double>, bool, std::vector<bool>, std::string, DType>;

/// An argument by the name that the operator's schema gives it.
struct Argument {
  std::string name;
  ArgumentContent content;
};

/// An element of a tensor of indices that points outside.
struct IndexFault {
  std::string name;              ///< of the argument
  int value = -1;                ///< the tensor: position in the table of values
  std::vector<int64_t> position; ///< of the first such element
  int64_t index = 0;             ///< what stands there
  int64_t begin = 0, end = 0;    ///< what may stand there: [begin, end)
};

/// "aten.add" of "aten.add.Tensor".
inline std::string_view withoutOverload(std::string_view target) {
  return target.substr(0, target.find('.', target.find('.') + 1));
}

/// An operator with all its arguments. Belongs to one thread at a time.
class OperatorCall {
public:
  virtual ~OperatorCall() = default;

  /// Reads its tensors from `values` and stores its results there. A failure
  /// carries the compute library's message and leaves `values` as they were.
  virtual Status run(std::span<Tensor> values) = 0;

  /// The index that the last call has failed for; null where it has not failed, or for something else. On a device, an
  /// index that is neither of a table nor a class of a loss may end the process.
  virtual const IndexFault *indexFault() const { return nullptr; }
};

/// Looks up `target` and binds `arguments`; arguments that are not named take
/// the schema's default, or None where they may be None. `outputs` says where each result goes, -1: nowhere; a
/// list of tensors counts as that many results. `notFound` for an unknown
/// operator, `invalid` for an unknown, missing or ill-typed argument.
Expected<std::unique_ptr<OperatorCall>> prepareCall(std::string_view target, std::span<const Argument> arguments,
                                                    std::vector<int> outputs);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_OPERATOR_H
