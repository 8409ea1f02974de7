//===- build_program.cpp - archive and plan to the plan dialect -----------===//
//
// The statements of the plan become ops first, then the graph becomes the function `forward`: arguments (parameters,
// buffers, inputs), constants, a call for each node in order, and the results. Errors do not stop the walk. A tensor of
// an unknown type gets a placeholder type, and a node with a refused operand is skipped, so one run reports all causes
// and none of their consequences.

#include "compiler/transforms/import/build_program.h"
#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/build_arguments.h"
#include "compiler/transforms/import/build_statements.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/module_runs.h"
#include "dialect/plan/updates.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "runtime/schema/program_names.h"
#include <set>
#include <string>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;
using archive::ExportedProgram;
using archive::ValueId;

namespace {

class ProgramBuilder {
public:
  ProgramBuilder(const ExportedProgram &program, const ProgramOutline &outline, const BoundPlan &bound,
                 Diagnostics &diagnostics, MLIRContext &context)
      : program(program), outline(outline), bound(bound), diagnostics(diagnostics), context(context), builder(&context),
        statements(bound, outline, diagnostics, builder),
        computesInOther(bound.precision && !bound.precision->compute.empty()) {}

  OwningOpRef<ModuleOp> build();

private:
  //===--------------------------------------------------------------------===//
  // The function
  //===--------------------------------------------------------------------===//

  void addFacts(ModuleOp module);
  void buildFunction();
  RankedTensorType typeOf(ValueId id);
  void addArgument(Block *block, ValueId id, Location location, SmallVector<NamedAttribute> attributes);

  NamedAttribute kind(ArgumentKind kind) { return named<attr::Kind>(ArgumentKindAttr::get(&context, kind)); }

  void addParameters(Block *block);

  /// Adds whether the parameter is trained, and its group.
  void addUse(size_t parameter, SmallVectorImpl<NamedAttribute> &attributes);

  /// The names of a parameter or buffer in weight files, if the plan states them.
  void addWeightName(const std::string &tensor, SmallVectorImpl<NamedAttribute> &attributes);

  /// Adds the layout that the plan states for a parameter itself, if any. Returns the location of the statement.
  Location addPlacement(size_t parameter, StringRef name, SmallVectorImpl<NamedAttribute> &attributes);
  void addBuffers(Block *block);
  void addInputs(Block *block);
  void checkSize(const std::string &input, size_t number, const BoundDim &dim);
  void addConstant(const std::string &name, ValueId id, const archive::ConstantData &data);
  void addConstants();

  /// The operator of a node: PyTorch's, or a kernel of the runtime for an operator of a Python library.
  StringRef targetOf(const archive::Node &node);

  /// True if a call has tensor operands and results, as its schema requires. Records may rely on this.
  bool hasTensors(const archive::Node &node, size_t operands);
  void addNode(const archive::Node &node);
  /// Buffer updates of the model are state of a training, and have no use otherwise.
  bool trains() const { return bound.loss && bound.optimizer; }
  const archive::Buffer *bufferOf(const archive::BufferUpdate &update) const;
  void checkUpdates();
  void finish(func::FuncOp function, Block *block);

  const ExportedProgram &program;
  const ProgramOutline &outline;
  const BoundPlan &bound;
  Diagnostics &diagnostics;
  std::set<std::string> refusedTypes; ///< each is reported once
  MLIRContext &context;
  OpBuilder builder;
  StatementBuilder statements;
  bool computesInOther; ///< types differ from those of the archive, so that explicit dtypes of the model matter
  std::vector<mlir::Value> values;
  SmallVector<Attribute> argumentAttributes;
  std::set<std::string> unknownTargets; ///< operators without a kernel, each reported once
};

} // namespace

OwningOpRef<ModuleOp> ProgramBuilder::build() {
  checkUpdates();
  OwningOpRef<ModuleOp> module(ModuleOp::create(builder.getUnknownLoc(), StringRef(bound.name)));
  addFacts(*module);
  builder.setInsertionPointToEnd(module->getBody());
  statements.build();
  buildFunction();
  return diagnostics.hasErrors() ? nullptr : std::move(module);
}

void ProgramBuilder::addFacts(ModuleOp module) {
  if (program.isDecomposed)
    setOpAttr<attr::IsDecomposed>(module, builder.getUnitAttr());
  if (!program.inactiveDropouts.empty())
    setOpAttr<attr::IsEvaluated>(module, builder.getUnitAttr());
}

void ProgramBuilder::buildFunction() {
  values.resize(program.values.size());
  auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), "forward", builder.getFunctionType({}, {}));
  Block *block = function.addEntryBlock();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(block);
  addParameters(block);
  addBuffers(block);
  addInputs(block);
  addConstants();
  for (const archive::Node &node : program.nodes)
    addNode(node);
  // A refused node has no results, and neither have its readers.
  if (!diagnostics.hasErrors())
    finish(function, block);
}

RankedTensorType ProgramBuilder::typeOf(ValueId id) {
  RankedTensorType type = tensorType(program.value(id), &context);
  if (type)
    return type;
  StringRef name = archive::scalarTypeName(program.value(id).type);
  if (refusedTypes.insert(name.str()).second)
    diagnostics.error(bound.modelRange,
                      ("tensor '" + program.value(id).name + "' of type " + name + " is not implemented yet").str());
  // A placeholder, so that the rest of the program is built and its errors are reported, too.
  return RankedTensorType::get({}, builder.getF32Type());
}

void ProgramBuilder::addArgument(Block *block, ValueId id, Location location, SmallVector<NamedAttribute> attributes) {
  values[id] = block->addArgument(typeOf(id), location);
  argumentAttributes.push_back(builder.getDictionaryAttr(attributes));
}

void ProgramBuilder::addParameters(Block *block) {
  for (auto [number, group] : llvm::enumerate(outline.parameterNames)) {
    SmallVector<StringRef> names;
    for (size_t index : group)
      names.push_back(program.parameters[index].name);
    const archive::Parameter &first = program.parameters[group.front()];
    SmallVector<NamedAttribute> attributes{kind(ArgumentKind::parameter),
                                           named<attr::Names>(builder.getStrArrayAttr(names))};
    addUse(number, attributes);
    if (bound.loss && bound.optimizer)
      statements.addData(number, attributes);
    statements.addInit(number, attributes);
    addWeightName(parameterPath(outline.model, outline.model.parameters[number]), attributes);
    Location location = addPlacement(number, names.front(), attributes);
    addArgument(block, first.value, location, attributes);
    // Tied parameters are one argument with several names: they have one shard and one gradient.
    for (size_t index : group)
      values[program.parameters[index].value] = values[first.value];
  }
}

void ProgramBuilder::addWeightName(const std::string &tensor, SmallVectorImpl<NamedAttribute> &attributes) {
  auto named = llvm::find_if(bound.weightNames, [&](const BoundWeightName &each) { return each.tensor == tensor; });
  if (named != bound.weightNames.end())
    attributes.push_back(plan::named<attr::Pieces>(base::PiecesAttr::get(&context, named->pieces)));
}

void ProgramBuilder::addUse(size_t parameter, SmallVectorImpl<NamedAttribute> &attributes) {
  ParameterUse use = bound.parameterUse[parameter];
  attributes.push_back(named<attr::Trainable>(builder.getBoolAttr(use == ParameterUse::Trained)));
  if (use == ParameterUse::Unused)
    attributes.push_back(named<attr::Unused>(LocationAttr(statements.locate(bound.parameterUseRange[parameter]))));
  if (use == ParameterUse::Trained && bound.optimizer && bound.optimizer->groupOf[parameter] != 0)
    attributes.push_back(
        named<attr::Group>(builder.getI64IntegerAttr(static_cast<int64_t>(bound.optimizer->groupOf[parameter]))));
}

Location ProgramBuilder::addPlacement(size_t parameter, StringRef name, SmallVectorImpl<NamedAttribute> &attributes) {
  auto stated =
      llvm::find_if(bound.parameters, [&](const BoundParameter &placed) { return placed.parameter == parameter; });
  if (stated == bound.parameters.end())
    return builder.getUnknownLoc();
  ArrayRef<int64_t> shape = outline.model.parameters[parameter].shape;
  attributes.push_back(named<attr::Sharding>(statements.layoutOf(stated->layout, shape, ("'" + name + "'").str())));
  if (!stated->layout.parts.empty())
    attributes.push_back(named<attr::Parts>(statements.partsAttr(stated->layout.parts)));
  attributes.push_back(named<attr::Style>(builder.getStringAttr(stated->layout.text)));
  return statements.locate(stated->layout.range);
}

void ProgramBuilder::addBuffers(Block *block) {
  for (const archive::Buffer &buffer : program.buffers) {
    // A state dict, and hence a checkpoint, contains persistent buffers only. The others are constants.
    if (!buffer.persistent)
      continue;
    SmallVector<NamedAttribute> attributes = {kind(ArgumentKind::buffer),
                                              named<attr::Names>(builder.getStrArrayAttr({buffer.name}))};
    addWeightName(buffer.name, attributes);
    // A run that draws its parameters reads no checkpoint, so the program must contain the values of the buffers.
    if (bound.init && buffer.data) {
      auto elements = cast<ElementsAttr>(constantValue(*buffer.data, typeOf(buffer.value)));
      attributes.push_back(
          named<attr::Init>(base::InitAttr::get(&context, base::InitKind::given, {}, {}, {}, {}, {}, elements)));
    }
    addArgument(block, buffer.value, builder.getUnknownLoc(), attributes);
  }
}

void ProgramBuilder::addInputs(Block *block) {
  for (const BoundInput &input : bound.inputs) {
    const archive::Input &source = program.inputs[input.input];
    SmallVector<StringRef> names;
    SmallVector<DimShardingAttr> dims;
    for (const BoundDim &dim : input.dims) {
      names.push_back(dim.name);
      dims.push_back(DimShardingAttr::get(&context, statements.axisRefs(dim.axes)));
      checkSize(source.name, dims.size() - 1, dim);
    }
    addArgument(block, source.value, statements.locate(input.range),
                {kind(ArgumentKind::input), named<attr::Names>(builder.getStrArrayAttr({source.name})),
                 named<attr::Dims>(builder.getStrArrayAttr(names)),
                 named<attr::Sharding>(ShardingAttr::get(&context, dims))});
  }
}

void ProgramBuilder::checkSize(const std::string &input, size_t number, const BoundDim &dim) {
  const Mesh &mesh = bound.environment.mesh;
  int64_t shards = mesh.shardsOf(dim.axes);
  std::string axes;
  for (size_t axis : dim.axes)
    axes += (axes.empty() ? "" : ", ") + mesh.nameOf(axis) + " = " + std::to_string(mesh.sizeOf(axis));
  // The extent of a batch is that of one microbatch.
  const char *where = dim.name == program_names::batchDim && bound.microbatches.calls() > 1 ? " in a microbatch" : "";
  if (!dim.axes.empty() && dim.extent < shards)
    diagnostics
        .error(dim.range, "dim " + (dim.name.empty() ? std::to_string(number) : "'" + dim.name + "'") + " of input '" +
                              input + "' has size " + std::to_string(dim.extent) + where + ", fewer than " + axes)
        .help((dim.extent == 0 ? "do not split it"
                               : "choose axis sizes whose product is at most " + std::to_string(dim.extent)) +
              ", or a larger size: in the plan if the dim is dynamic, else in the export");
}

void ProgramBuilder::addConstant(const std::string &name, ValueId id, const archive::ConstantData &data) {
  RankedTensorType type = typeOf(id);
  values[id] = ConstantOp::create(builder, builder.getUnknownLoc(), type, name, constantValue(data, type));
}

void ProgramBuilder::addConstants() {
  for (const archive::Buffer &buffer : program.buffers)
    if (!buffer.persistent)
      addConstant(buffer.name, buffer.value, *buffer.data);
  for (const archive::Constant &constant : program.constants)
    addConstant(constant.name, constant.value, constant.data);
}

StringRef ProgramBuilder::targetOf(const archive::Node &node) {
  if (node.target == "transformers.grouped_mm_fallback.default")
    return "meshplan.grouped_mm";
  if (!StringRef(node.target).starts_with("aten.") && unknownTargets.insert(node.target).second)
    diagnostics
        .error(bound.modelRange, "operator '" + node.target + "' in module '" + program.modulePath(node).str() +
                                     "' belongs to a Python library: the runtime has no kernel for it")
        .help("export the model with operators of PyTorch (aten)");
  return node.target;
}

bool ProgramBuilder::hasTensors(const archive::Node &node, size_t operands) {
  const OpRecord *record = OpRegistry::get().lookup(node.target);
  if (!record)
    return true;
  std::string what = node.results.empty()                      ? "result"
                     : operands == 0 && !record->readsNoTensor ? "tensor among its arguments"
                                                               : "";
  if (!what.empty())
    diagnostics.error(bound.modelRange, "node '" + node.name + "' of operator '" + node.target + "' has no " + what);
  return what.empty();
}

void ProgramBuilder::addNode(const archive::Node &node) {
  // The producer of an operand was refused. Its readers are skipped, so that each cause is reported once.
  if (llvm::any_of(program.operands(node), [&](ValueId id) { return !values[id]; }))
    return;
  // The conversion is the identity. It is an operator only under autocast, where the type before it may differ.
  if (!computesInOther && program.keepsType(node)) {
    values[node.results.front()] = values[program.operands(node).front()];
    return;
  }
  ArgumentBuilder arguments(values, &context);
  DictionaryAttr args = arguments.build(node);
  if (!args) {
    diagnostics.error(bound.modelRange,
                      "an argument of '" + node.name + "' (" + node.target + ") is not implemented yet");
    return;
  }
  if (!hasTensors(node, arguments.operands().size()))
    return;
  SmallVector<Type> types;
  for (ValueId result : node.results)
    types.push_back(result == archive::noValue ? RankedTensorType::get({0}, builder.getF32Type()) : typeOf(result));
  StringRef module = program.modulePath(node);
  Location location = NameLoc::get(builder.getStringAttr(node.name));
  auto call = CallOp::create(builder, location, types, targetOf(node), arguments.operands(), args,
                             module.empty() ? StringAttr() : builder.getStringAttr(module));
  // A module that the model calls several times has several runs, which have separate inputs and outputs.
  SmallVector<std::pair<StringRef, int64_t>> runs;
  for (const archive::Scope *scope : program.moduleChain(node))
    runs.push_back({scope->path, scope->call});
  setModuleRuns(call, runs);
  if (computesInOther && !node.autocastOff.empty())
    setOpAttr<attr::AutocastOff>(call, builder.getStringAttr(node.autocastOff));
  for (auto [id, result] : llvm::zip(node.results, call.getResults()))
    if (id != archive::noValue)
      values[id] = result;
}

const archive::Buffer *ProgramBuilder::bufferOf(const archive::BufferUpdate &update) const {
  auto buffer = llvm::find_if(program.buffers, [&](const archive::Buffer &each) { return each.name == update.buffer; });
  return buffer == program.buffers.end() || !buffer->persistent ? nullptr : &*buffer;
}

void ProgramBuilder::checkUpdates() {
  if (!trains() || program.bufferUpdates.empty())
    return;
  for (const archive::BufferUpdate &update : program.bufferUpdates)
    if (!bufferOf(update))
      diagnostics
          .error(bound.modelRange,
                 "the model updates its buffer '" + update.buffer + "', which is not in its state dict")
          .help("register it with 'persistent=True', so that checkpoints contain it");
  bool isInMicrobatches = bound.microbatches.count > 1;
  if (isInMicrobatches || bound.halves)
    diagnostics
        .error(isInMicrobatches ? bound.microbatches.range : *bound.halves,
               "the model updates its buffer '" + program.bufferUpdates.front().buffer + "' in each " +
                   (isInMicrobatches ? "microbatch" : "half") + ", which is not implemented yet")
        .help(std::string("train without '") + (isInMicrobatches ? "microbatches" : "halves") +
              "', or export the model in eval mode");
}

void ProgramBuilder::finish(func::FuncOp function, Block *block) {
  SmallVector<mlir::Value> outputs;
  SmallVector<Attribute> attributes;
  for (const archive::Output &output : program.outputs) {
    outputs.push_back(values[output.value]);
    attributes.push_back(builder.getDictionaryAttr(named<attr::Name>(builder.getStringAttr(output.name))));
  }
  if (trains())
    for (const archive::BufferUpdate &update : program.bufferUpdates) {
      auto buffer = ArgumentRefAttr::get(&context, ArgumentKind::buffer, builder.getStringAttr(update.buffer));
      outputs.push_back(values[update.value]);
      attributes.push_back(builder.getDictionaryAttr(named<attr::Updates>(buffer)));
    }
  func::ReturnOp::create(builder, builder.getUnknownLoc(), outputs);
  // Arguments were added one by one, so that the type is known only now.
  function.setType(builder.getFunctionType(block->getArgumentTypes(), ValueRange(outputs).getTypes()));
  function.setArgAttrsAttr(builder.getArrayAttr(argumentAttributes));
  function.setResAttrsAttr(builder.getArrayAttr(attributes));
}

OwningOpRef<ModuleOp> meshplan::buildProgram(const ExportedProgram &program, const ProgramOutline &outline,
                                             const BoundPlan &plan, Diagnostics &diagnostics, MLIRContext &context) {
  return ProgramBuilder(program, outline, plan, diagnostics, context).build();
}
