//===- pair_writer.h - nodes that compute with pairs of reals ----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_COMPLEX_PAIR_WRITER_H
#define MESHPLAN_COMPILER_ARCHIVE_COMPLEX_PAIR_WRITER_H

#include "compiler/archive/exported_program.h"
#include "llvm/ADT/StringSet.h"

namespace meshplan::archive {

/// The real and imaginary part of a complex tensor, both with its shape. A part that is noValue is zero everywhere; at
/// most one part is.
struct Pair {
  ValueId real = noValue;
  ValueId imag = noValue;
};

using Dims = llvm::SmallVector<SymbolicInt, 4>;

/// An argument that is a tensor.
NamedArgument tensorArgument(llvm::StringRef name, ValueId value);

/// Writes nodes of real tensors that replace one node of complex tensors, with its module, source line and gradient
/// mode. They compute in the types of their operands, even under autocast, which leaves complex tensors unchanged.
class PairWriter {
public:
  explicit PairWriter(ExportedProgram &program);

  /// Nodes that are written from now on replace `node`.
  void begin(const Node &node) { origin = &node; }
  /// Keeps the node unchanged.
  void keep(Node node) { nodes.push_back(std::move(node)); }

  ValueId write(llvm::StringRef target, std::vector<NamedArgument> arguments, const Dims &dims, ScalarType type);
  /// A call of the operator of `node` with other arguments, and a new value for each of its results, with the element
  /// type of the parts.
  std::vector<ValueId> repeat(const Node &node, std::vector<NamedArgument> arguments);

  /// An operator of one tensor, whose result has the same shape and type.
  ValueId unary(llvm::StringRef target, ValueId self);
  /// An operator of two tensors, whose result has the type of the first.
  ValueId binary(llvm::StringRef target, ValueId left, ValueId right, const Dims &dims);
  ValueId scaled(ValueId self, double factor);
  ValueId expanded(ValueId self, const Dims &dims);
  /// A conversion that is written even if the type does not change: under autocast the tensor may have another type.
  ValueId named(ValueId self, ScalarType type);
  ValueId converted(ValueId self, ScalarType type);
  ValueId selected(ValueId self, int64_t index, const Dims &dims);

  /// Sums and differences of parts, in the shape `dims`; noValue is zero.
  ValueId sum(ValueId left, ValueId right, const Dims &dims);
  ValueId difference(ValueId left, ValueId right, const Dims &dims);
  ValueId negated(ValueId part) { return part == noValue ? noValue : unary("aten.neg.default", part); }

  /// A part of the pair as a tensor, also if it is zero everywhere.
  ValueId realOf(const Pair &pair) { return pair.real == noValue ? unary(zeros, pair.imag) : pair.real; }
  ValueId imagOf(const Pair &pair) { return pair.imag == noValue ? unary(zeros, pair.real) : pair.imag; }

  const Value &value(ValueId id) const { return program.values[id]; }
  std::vector<Node> take() { return std::move(nodes); }

private:
  static constexpr llvm::StringLiteral zeros = "aten.zeros_like.default";

  ValueId define(ScalarType type, const Dims &dims);

  ExportedProgram &program;
  std::vector<Node> nodes;
  llvm::StringSet<> names;
  const Node *origin = nullptr;
};

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_COMPLEX_PAIR_WRITER_H
