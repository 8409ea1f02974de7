//===- graph_reader.h - JSON graph to values and nodes -----------*- C++ -*-===//
//
// Flattens the graph of an archive into ExportedProgram: no-grad regions are inlined, symbolic arithmetic becomes
// expressions, asserts are dropped. Anything that cannot be represented is an error with its path in the JSON.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_GRAPH_READER_H
#define MESHPLAN_COMPILER_ARCHIVE_GRAPH_READER_H

#include "compiler/archive/exported_program.h"
#include "compiler/archive/json_document.h"
#include "compiler/archive/scope_table.h"
#include "llvm/ADT/StringMap.h"

#include <set>

namespace meshplan::archive {

/// Properties of all nodes of a region.
struct RegionContext {
  bool noGrad = false;
  std::string autocastOff; ///< as in Node
};

/// Names of one graph. A region has its own names, which may shadow outer ones.
struct GraphNames {
  llvm::StringMap<ValueId> tensors;
  llvm::StringMap<SymbolicInt> integers;
  const Json *floats = nullptr;         ///< name to SymFloat, or null
  const Json *truths = nullptr;         ///< name to SymBool, or null
  const Json *tensorMetadata = nullptr; ///< name to type and shape
};

class GraphReader {
public:
  GraphReader(JsonDocument &document, ExportedProgram &program)
      : document(document), program(program), scopes(program.scopes) {}

  /// Reads the outermost graph including its inputs, and fills the values, nodes and scopes of the program. Returns its
  /// names for the signature.
  GraphNames read(const Json &graph);

  /// The tensor that a TensorArgument refers to.
  ValueId readTensor(const Json &tensorArgument, const GraphNames &names);

  /// Element type and shape of a TensorMeta.
  std::optional<ScalarType> readScalarType(const Json &number);
  SymbolicInt readSymbolicInt(const Json &symInt);

  /// The value of a SymFloatArgument or SymBoolArgument, given by name or literally. Nothing after an error.
  std::optional<SymbolicScalar> readSymbolicScalar(SymbolicScalar::Type type, const Json &argument,
                                                   const GraphNames &names);

private:
  /// Records the value that a symbol had in the example inputs.
  void noteExample(const SymbolicInt &integer, const Json &expression);
  void readNumbers(const Json &graph, GraphNames &names);
  void readNodes(const Json &graph, GraphNames &names, const RegionContext &context);
  void readNode(const Json &json, GraphNames &names, const RegionContext &context);
  void readOperator(const Json &json, llvm::StringRef target, GraphNames &names, const RegionContext &context);
  void readRegion(const Json &json, llvm::StringRef target, GraphNames &names, RegionContext context);
  /// Defines results of a refused region, so that their readers are not reported as well.
  void defineUnread(const Json &json, GraphNames &names);
  void readGradientRegion(const Json &json, GraphNames &names, RegionContext context);
  void readAutocastRegion(const Json &json, GraphNames &names, RegionContext context);
  /// Inlines the graph of a region. The first `settings` arguments of the region are settings; then come the graph and
  /// its operands.
  void inlineRegion(const Json &json, size_t settings, GraphNames &names, const RegionContext &context);
  /// True if the tensors of this graph are on a device of this type. A plan moves them to its own device.
  bool isOwnDevice(const std::string &type, const GraphNames &names);
  void bindRegionInputs(const Json &inputs, size_t before, const Json &graph, const GraphNames &outer,
                        GraphNames &inner);
  void bindRegionOutputs(const Json &json, const Json &graph, const GraphNames &inner, GraphNames &outer);
  void bindRegionOutput(const Json &name, const Json &returned, const GraphNames &inner, GraphNames &outer);
  bool isSymbolicArithmetic(const Json &outputs);
  void defineResults(const Json &outputs, GraphNames &names, Node &node);
  ValueId defineTensor(const Json &name, GraphNames &names, int32_t producer, int32_t result);
  void readArguments(const Json &inputs, const GraphNames &names, Node &node);
  void readMetadata(const Json &json, Node &node);
  /// Records where a node comes from, and calls of custom autograd functions, whose backward the archive does not have.
  void noteTrace(llvm::StringRef trace, Node &node);
  void noteOrigin(llvm::StringRef origin, Node &node);

  JsonDocument &document;
  ExportedProgram &program;
  ScopeTable scopes;
  std::set<std::string> valueNames;
};

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_GRAPH_READER_H
