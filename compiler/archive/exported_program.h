//===- exported_program.h - an exported model as plain data ------*- C++ -*-===//
//
// The result of readArchive: one flat functional graph with global shapes, and its signature. Plain data without
// owners: values, nodes and scopes refer to each other by index.
//
// Guarantees for a program that readArchive returned:
//   - every node is functional: no operand is written in place, directly or through a view
//   - nodes are in topological order
//   - no-grad regions are inlined, their nodes have `noGrad`; `aten.detach` stands
//     between their results and readers outside, where gradients would flow
//   - regions in which autocast is off are inlined, their nodes have `autocastOff`
//   - no tensor is complex: pairs of real ones replace them (complex/split_complex.h)
//   - metadata asserts and nodes that compute only symbolic numbers are removed;
//     symbolic numbers are expressions where they are used
//   - arguments `device`, `pin_memory`, `non_blocking` and a strided `layout` are
//     removed; every conversion is `aten.to.dtype` and changes the dtype, or
//     keeps a float dtype that the model names (ExportedProgram::keepsType)
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
/// True for types that a gradient may have, including complex ones.
bool isFloating(ScalarType type);
bool isComplex(ScalarType type);
/// The type of the real and imaginary part of a complex type; any other type is returned unchanged.
ScalarType partType(ScalarType type);
/// The type with this number in the schema, if there is one.
std::optional<ScalarType> scalarTypeFromSchema(int64_t number);

/// Numbered as in torch/_export/serde/schema.py.
enum class MemoryFormat : uint8_t { Contiguous = 1, ChannelsLast = 2, ChannelsLast3d = 3, Preserve = 4 };

/// Index into ExportedProgram::values.
using ValueId = int32_t;
/// Marks a missing tensor (None in Python) in a list or among results.
constexpr ValueId noValue = -1;

/// A tensor of the graph. Its shape is the global shape.
struct Value {
  std::string name; ///< unique in the program
  ScalarType type = ScalarType::Float32;
  llvm::SmallVector<SymbolicInt, 4> dims;
  int32_t producer = -1; ///< index of the producing node; -1 for inputs of the signature
  int32_t result = 0;    ///< which result of the producer
};

/// False if the size of the value in bytes does not fit in 64 bits. Extents that are zero or unknown count as one.
bool hasPossibleSize(const Value &value);

/// One call of a module in the forward pass.
struct Scope {
  int32_t parent = -1;   ///< index of the caller's scope; -1 at the root
  std::string path;      ///< as in named_modules(); empty for the model itself
  std::string className; ///< such as `torch.nn.modules.linear.Linear`
  int32_t call = 0;      ///< 0 for the first call of this module, 1 for the second
};

/// None, a tensor, tensors (noValue for None), scalars and lists of scalars. An int is always a SymbolicInt. Floats and
/// booleans that depend on symbols are SymbolicScalars until bindSymbols. Complex numbers exist only until
/// splitComplex.
using Argument =
    std::variant<std::monostate, ValueId, std::vector<ValueId>, SymbolicInt, std::vector<SymbolicInt>, double,
                 std::vector<double>, std::complex<double>, bool, std::vector<bool>, std::string,
                 std::vector<std::string>, ScalarType, MemoryFormat, SymbolicScalar, std::vector<SymbolicScalar>>;

struct NamedArgument {
  std::string name; ///< from the operator's schema
  Argument value;
};

/// A value of Node::autocastOff.
constexpr llvm::StringLiteral everyDevice = "*";

/// One call of an operator. Arguments with the schema's default may be absent; the others are in the order of the
/// schema.
struct Node {
  std::string name;
  std::string target; ///< without `torch.ops.`: `aten.linear.default`
  std::vector<NamedArgument> arguments;
  std::vector<ValueId> results; ///< a list result is flattened; noValue where None
  int32_t scope = -1;           ///< innermost module; -1 when the archive does not say
  bool noGrad = false;          ///< no gradient flows through this node
  std::string autocastOff;      ///< the device type for which autocast is off, or everyDevice; empty for none
  std::string source;           ///< innermost line of the model's code, `file.py:12`; may be empty

  /// The argument of this name, or null when it is absent.
  const Argument *find(llvm::StringRef argumentName) const;
};

/// A tensor with known elements: a buffer or a lifted constant.
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
  /// Of a stacked parameter (stack_modules.h): the list of modules that have its elements, which its name begins with.
  /// Its payload is that of the first element.
  std::string list;
};

struct Buffer {
  std::string name; ///< as in named_buffers(remove_duplicate=False)
  ValueId value = noValue;
  bool persistent = true;           ///< part of the state dict, that is, of the weight file
  std::string payload;              ///< as for Parameter
  std::optional<ConstantData> data; ///< for a persistent buffer only after readBufferValues, if it found the bytes
};

/// A tensor constant that the exporter found in the code.
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
  std::string name; ///< name from the out-spec (`loss`, `logits`), else the position
  ValueId value = noValue;
};

/// The step stores `value` in the buffer.
struct BufferUpdate {
  std::string buffer;
  ValueId value = noValue;
};

/// The range of a symbol. `maximum` is INT64_MAX if there is no bound.
struct SymbolRange {
  std::string symbol;
  int64_t minimum = 0;
  int64_t maximum = INT64_MAX;
};

/// A dropout that would be active in training, but that the archive has switched off.
struct InactiveDropout {
  std::string module; ///< as modulePath()
  double probability = 0;
};

/// A call of a custom `torch.autograd.Function`. Its `backward` is not part of any archive.
struct CustomFunction {
  std::string module; ///< as modulePath()
  std::string source; ///< `file.py:12`
};

struct ExportedProgram {
  std::string torchVersion;  ///< version that wrote the archive
  bool isDecomposed = false; ///< the graph is the result of run_decompositions
  std::string digest;        ///< SHA-256 of the graph's JSON and constants, in hexadecimal; weights are not included
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<Scope> scopes; ///< parents come before their children; 0 is the model
  std::vector<Parameter> parameters;
  std::vector<Buffer> buffers;
  std::vector<Constant> constants;
  std::vector<Input> inputs; ///< tensors only
  std::vector<Output> outputs;
  std::vector<BufferUpdate> bufferUpdates;
  std::vector<InactiveDropout> inactiveDropouts; ///< removed from the nodes
  std::vector<CustomFunction> customFunctions;   ///< each location once
  std::optional<size_t> lossOutput;              ///< index in outputs, if the signature states it
  std::vector<SymbolRange> symbols;              ///< empty if all shapes are static
  SymbolBindings dataExtents;                    ///< numbers of the symbols that masks define; see data_extents.h
  SymbolBindings examples;                       ///< values of symbols in the example inputs, if the archive has them

  const Value &value(ValueId id) const { return values[id]; }

  /// True if parameters with one payload are tied. Archives of the meta device give all of them the same one.
  bool payloadsTellTies() const;
  /// True for a conversion to the type that its tensor already has.
  bool keepsType(const Node &node) const;

  /// Module path of a node, `model.layers.0.mlp`; empty at the root or when unknown.
  llvm::StringRef modulePath(const Node &node) const;
  /// Module paths and classes from the model down to the node's module.
  llvm::SmallVector<const Scope *> moduleChain(const Node &node) const;
  /// Ids of all tensors that a node reads, in order, with repeats.
  llvm::SmallVector<ValueId> operands(const Node &node) const;
};

/// Calls `visit` with every tensor id of an Argument, which may be const, by reference; noValue is skipped.
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
