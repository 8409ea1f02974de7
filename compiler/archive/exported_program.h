//===- exported_program.h - an exported model as plain data ------*- C++ -*-===//
//
// What readArchive makes of a torch.export archive: one flat functional graph
// with global shapes and what its signature says. Plain data without owners:
// values, nodes and scopes refer to each other by index.
//
// Promises of a program that readArchive returned:
//   - every node is functional: no operand is written, nothing hides in a view
//   - nodes stand in an order in which every operand comes before its use
//   - no-grad regions are inlined, their nodes have `noGrad`; `aten.detach` stands
//     behind what others read of them and what gradients would flow through
//   - regions in which autocast is off are inlined, their nodes have `autocastOff`
//   - no tensor is complex: pairs of real ones stand for them (complex/split_complex.h)
//   - metadata asserts and nodes that compute only symbolic numbers are gone;
//     symbolic numbers stand as expressions where they are used
//   - arguments `device`, `pin_memory`, `non_blocking` and a strided `layout`
//     are gone; every conversion is `aten.to.dtype` and changes the dtype, or
//     keeps one of floats that the model names (ExportedProgram::keepsType)
//   - every value that a node reads has a producer, or is an input of the
//     signature; every constant has its bytes
//
// Thread safety: none needed, the structs have no hidden state.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_EXPORTED_PROGRAM_H
#define MESHPLAN_COMPILER_ARCHIVE_EXPORTED_PROGRAM_H

#include "compiler/archive/symbolic_int.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace meshplan::archive {

/// Element types, numbered as in torch/_export/serde/schema.py.
enum class ScalarType : uint8_t {
  UInt8 = 1,
  Int8 = 2,
  Int16 = 3,
  Int32 = 4,
  Int64 = 5,
  Float16 = 6,
  Float32 = 7,
  Float64 = 8,
  Complex32 = 9,
  Complex64 = 10,
  Complex128 = 11,
  Bool = 12,
  BFloat16 = 13,
  UInt16 = 28,
  Float8E4M3FN = 29,
  Float8E5M2 = 30,
  Float8E4M3FNUZ = 31,
  Float8E5M2FNUZ = 32,
};

/// PyTorch's name without `torch.`, such as `float32`.
llvm::StringRef scalarTypeName(ScalarType type);
/// Bytes of one element.
int64_t scalarTypeSize(ScalarType type);
/// True for types that a gradient may have, complex ones included.
bool isFloating(ScalarType type);
bool isComplex(ScalarType type);
/// The type of the real and imaginary part of a complex type; any other type is its own.
ScalarType partType(ScalarType type);
/// The type with this number in the schema, if there is one.
std::optional<ScalarType> scalarTypeFromSchema(int64_t number);

/// Numbered as in torch/_export/serde/schema.py.
enum class MemoryFormat : uint8_t { Contiguous = 1, ChannelsLast = 2, ChannelsLast3d = 3, Preserve = 4 };

/// Index into ExportedProgram::values.
using ValueId = int32_t;
/// Stands where a list or a result has no tensor (None in Python).
constexpr ValueId noValue = -1;

/// A tensor of the graph. Its shape is the global shape.
struct Value {
  std::string name; ///< unique in the program
  ScalarType type = ScalarType::Float32;
  llvm::SmallVector<SymbolicInt, 4> dims;
  int32_t producer = -1; ///< index of the node that makes it; -1 for inputs of the signature
  int32_t result = 0;    ///< which result of the producer
};

/// False when the number of the value's bytes does not fit in 64 bits, whichever of its known extents are zero. Unknown
/// extents count as one.
bool hasPossibleSize(const Value &value);

/// One call of a module in the forward pass.
struct Scope {
  int32_t parent = -1;   ///< index of the caller's scope; -1 at the root
  std::string path;      ///< as in named_modules(); empty for the model itself
  std::string className; ///< such as `torch.nn.modules.linear.Linear`
  int32_t call = 0;      ///< 0 for the first call of this module, 1 for the second
};

/// None, a tensor, tensors (noValue where None), and scalars and lists of them.
/// An int is always a SymbolicInt. Floats and truth values that depend on symbols
/// are SymbolicScalars until bindSymbols. A complex number is only there until splitComplex.
using Argument =
    std::variant<std::monostate, ValueId, std::vector<ValueId>, SymbolicInt, std::vector<SymbolicInt>, double,
                 std::vector<double>, std::complex<double>, bool, std::vector<bool>, std::string,
                 std::vector<std::string>, ScalarType, MemoryFormat, SymbolicScalar, std::vector<SymbolicScalar>>;

struct NamedArgument {
  std::string name; ///< from the operator's schema
  Argument value;
};

/// Of Node::autocastOff.
constexpr llvm::StringLiteral everyDevice = "*";

/// One call of an operator. Arguments that have the schema's default may be
/// absent; those present stand in the order of the schema.
struct Node {
  std::string name;
  std::string target; ///< without `torch.ops.`: `aten.linear.default`
  std::vector<NamedArgument> arguments;
  std::vector<ValueId> results; ///< a list result is flattened; noValue where None
  int32_t scope = -1;           ///< innermost module; -1 when the archive does not say
  bool noGrad = false;          ///< no gradient flows through this node
  std::string autocastOff;      ///< the type of device on which autocast is off here, or every one; empty for none
  std::string source;           ///< innermost line of the model's code, `file.py:12`; may be empty

  /// The argument of this name, or null when it is absent.
  const Argument *find(llvm::StringRef argumentName) const;
};

/// A tensor of known value: a buffer or a lifted constant.
struct ConstantData {
  ScalarType type = ScalarType::Float32;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes; ///< contiguous, little endian, row major
};

struct Parameter {
  std::string name; ///< as in named_parameters(remove_duplicate=False)
  ValueId value = noValue;
  bool requiresGrad = true;
  std::string payload; ///< entry of the archive that holds the bytes; tied parameters share one. Empty when the
                       ///< archive was written without bytes (on the meta device)
};

struct Buffer {
  std::string name; ///< as in named_buffers(remove_duplicate=False)
  ValueId value = noValue;
  bool persistent = true;           ///< part of the state dict, that is, of the weight file
  std::string payload;              ///< as of Parameter
  std::optional<ConstantData> data; ///< of a persistent one only what readBufferValues has found
};

/// A tensor that the exporter found in the code.
struct Constant {
  std::string name;
  ValueId value = noValue;
  ConstantData data;
};

struct Input {
  std::string name; ///< the parameter name of forward()
  ValueId value = noValue;
};

struct Output {
  std::string name; ///< from the out-spec (`loss`, `logits`); its position where that gives no name
  ValueId value = noValue;
};

/// The step leaves `value` in the buffer.
struct BufferUpdate {
  std::string buffer;
  ValueId value = noValue;
};

/// What a symbol may be. `maximum` is INT64_MAX when there is no bound.
struct SymbolRange {
  std::string symbol;
  int64_t minimum = 0;
  int64_t maximum = INT64_MAX;
};

/// A dropout that would drop in training and that the archive has switched off.
struct IdleDropout {
  std::string module; ///< as modulePath()
  double probability = 0;
};

/// A place where the model applies a `torch.autograd.Function` of its own. No archive has its `backward`.
struct OwnFunction {
  std::string module; ///< as modulePath()
  std::string source; ///< `file.py:12`
};

struct ExportedProgram {
  std::string torchVersion;  ///< that wrote the archive
  bool isDecomposed = false; ///< the graph is one of run_decompositions
  std::string digest;        ///< SHA-256 of the graph's JSON and of constants, hexadecimal; weights are not part of it
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<Scope> scopes; ///< a parent stands before its children; 0 is the model
  std::vector<Parameter> parameters;
  std::vector<Buffer> buffers;
  std::vector<Constant> constants;
  std::vector<Input> inputs; ///< tensors only
  std::vector<Output> outputs;
  std::vector<BufferUpdate> bufferUpdates;
  std::vector<IdleDropout> idleDropouts; ///< which are no nodes any more
  std::vector<OwnFunction> ownFunctions; ///< each place once
  std::optional<size_t> lossOutput;      ///< index in outputs, when the signature says
  std::vector<SymbolRange> symbols;      ///< empty when all shapes are static
  SymbolBindings examples;               ///< what symbols were in the example inputs, where the archive says so

  const Value &value(ValueId id) const { return values[id]; }

  /// True for a conversion to the type that its tensor has.
  bool keepsType(const Node &node) const;

  /// Module path of a node, `model.layers.0.mlp`; empty at the root or when unknown.
  llvm::StringRef modulePath(const Node &node) const;
  /// Module paths and classes from the model down to the node's module.
  llvm::SmallVector<const Scope *> moduleChain(const Node &node) const;
  /// Ids of all tensors that a node reads, in order, with repeats.
  llvm::SmallVector<ValueId> operands(const Node &node) const;
};

/// Calls `visit` with every tensor id in `argument` (an Argument or a const
/// Argument), by reference; noValue is passed over.
template <typename ArgumentType, typename Visitor> void visitValues(ArgumentType &argument, Visitor visit) {
  if (auto *id = std::get_if<ValueId>(&argument))
    visit(*id);
  else if (auto *ids = std::get_if<std::vector<ValueId>>(&argument))
    for (auto &id : *ids)
      if (id != noValue)
        visit(id);
}

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_EXPORTED_PROGRAM_H
