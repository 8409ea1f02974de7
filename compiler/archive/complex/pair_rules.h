//===- pair_rules.h - operators of complex numbers on pairs ------*- C++ -*-===//
//
// Rules that rewrite each operator that reads or produces complex tensors to real operators. The gradients of the real
// operators are those that PyTorch defines for complex ones: it differentiates a real loss with respect to both parts.
//
// Example: aten.mul.Tensor(a, b) becomes real = a.real * b.real - a.imag * b.imag and imag = a.real * b.imag + a.imag *
// b.real, six nodes.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_COMPLEX_PAIR_RULES_H
#define MESHPLAN_COMPILER_ARCHIVE_COMPLEX_PAIR_RULES_H

#include "compiler/archive/complex/pair_writer.h"
#include "llvm/ADT/DenseMap.h"

#include <complex>

namespace meshplan::archive {

class PairRules {
public:
  PairRules(ExportedProgram &program, PairWriter &writer) : program(program), writer(writer) {}

  /// Defines the parts of a complex tensor that is not the result of a node.
  void define(ValueId value, Pair parts) { pairs[value] = parts; }
  /// True if both parts of the tensor are known, or it is real.
  bool isKnown(ValueId value) const { return !isComplex(program.value(value).type) || pairs.contains(value); }
  /// The value that replaces a real tensor.
  ValueId realValue(ValueId value) const { return reals.lookup_or(value, value); }

  /// Writes the nodes that replace `node`. False if there is no rule; the program must then be discarded.
  bool run(const Node &node);

private:
  using Rule = bool (PairRules::*)();

  Rule ruleOf(llvm::StringRef name) const;

  // Reading the node.
  ValueId operandId(llvm::StringRef name) const;
  /// The operand, with parts of the result's type; a real operand has no imaginary part.
  std::optional<Pair> operand(llvm::StringRef name);
  Pair pairOf(ValueId id);
  /// A real tensor with the shape of this one: a part of a complex tensor, or a real tensor itself.
  ValueId shapeOf(ValueId id) const;
  std::optional<std::complex<double>> complexScalar(llvm::StringRef name) const;
  bool isRealScalar(llvm::StringRef name) const;

  // Results.
  bool give(Pair parts);
  bool give(ValueId real);

  // Rules.
  bool copyParts();
  bool fill();
  bool convert();
  bool alias();
  bool makeComplex();
  bool makePolar();
  bool viewAsComplex();
  bool viewAsReal();
  bool realPart();
  bool imagPart();
  bool conjugate();
  bool add() { return addOrSubtract(/*subtracts=*/false); }
  bool subtract() { return addOrSubtract(/*subtracts=*/true); }
  bool subtractFrom();
  bool multiply();
  bool multiplyTensors();
  bool divide();
  bool invert();
  bool square();
  bool power();
  bool exponential();
  bool absolute();
  bool angle();
  bool compare();

  bool addOrSubtract(bool subtracts);
  /// `alpha`, if it is a known number.
  std::optional<double> factorOfOther() const;
  bool addScalar(const Pair &self);
  /// The node's operator, applied to one part of each of its two tensors.
  ValueId partProduct(ValueId left, ValueId right);
  /// The node's operator, applied to the given part of every complex operand; nullopt if no operand has that part.
  std::optional<std::vector<ValueId>> partOf(ValueId Pair::*part);

  ExportedProgram &program;
  PairWriter &writer;
  llvm::DenseMap<ValueId, Pair> pairs;
  llvm::DenseMap<ValueId, ValueId> reals;
  const Node *node = nullptr;
  llvm::StringRef name; ///< name of the operator, without overload
  ScalarType type;      ///< element type of the parts of the first result, or of the result itself
  ScalarType parts;     ///< element type of the parts of the node's complex tensors
  Dims dims;            ///< shape of the first result
};

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_COMPLEX_PAIR_RULES_H
