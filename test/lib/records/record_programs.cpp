//===- record_programs.cpp - every sharding of a sample as a program ------===//
//
// record-programs SAMPLES.mlir OUT.sched [DEVICE]
//
// Each function of the samples holds one call. For each sharding that the call's record allows, the artifact gets two
// programs: `name.k` on the ranks of a 2 x 3 mesh, and `name.k.whole` on one rank. The input of a partial operand has
// its addends along a new first dim, and the program sums them.
//
// Arguments are named `number` or, with a sample.range, `number:low:high`, and with sample.counted, whose elements are
// 0, 1, 2, ..., `number:counted`; outputs are named `number`, followed by `:unspecified` if the sample says that their
// values are arbitrary. Operands and results with sample.routed are made and summed by routed_tensors.h. A result
// marked sample.of_cpu is not an output on other devices: PyTorch's kernels keep it for their gradients, and give it
// extents of their own on each device.
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/build_pipeline.h"
#include "compiler/sharding/enumerate_shardings.h"
#include "compiler/sharding/storage/transfers.h"
#include "compiler/target/artifact/artifact.h"
#include "compiler/transforms/partition/passes.h"
#include "compiler/transforms/schedule/passes.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/plan.h"
#include "dialect/plan/programs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "routed_tensors.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

class ProgramWriter {
public:
  ProgramWriter(ModuleOp module, ArrayRef<MeshAxisAttr> axes, StringRef device)
      : builder(module.getContext()), context(module.getContext()), device(device) {
    builder.setInsertionPointToEnd(module.getBody());
    mesh = MeshOp::create(builder, builder.getUnknownLoc(),
                          builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end())));
  }

  void add(func::FuncOp sample, ArrayRef<MeshAxisAttr> axes) {
    CallOp call = *sample.getOps<CallOp>().begin();
    CallView view = CallView::of(call);
    const OpRecord *record = OpRegistry::get().lookup(view.target);
    // A copy between memories is not a call in a schedule; elements keep their positions in any layout.
    if (!record || isTransfer(call))
      return;
    for (auto [number, shardings] : llvm::enumerate(legalShardings(view, *record, axes, Division::uneven))) {
      std::string name = (sample.getName() + "." + llvm::Twine(number)).str();
      write(name, sample, call, shardings, /*whole=*/false);
      write((name + llvm::Twine(".whole")).str(), sample, call, shardings, /*whole=*/true);
    }
  }

private:
  void write(const std::string &name, func::FuncOp sample, CallOp call, const CallShardings &shardings, bool whole) {
    OpBuilder::InsertionGuard guard(builder);
    auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), name, builder.getFunctionType({}, {}));
    if (whole)
      setRole(function, base::ProgramRole::reference);
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    SmallVector<Attribute> attributes;
    std::optional<RoutedTensors> routed = routedOf(sample, block, attributes, whole);
    if (routed && call.getTarget() != "meshplan.route")
      route(sample, call, shardings, *routed);
    SmallVector<Value> operands;
    // One argument may be several operands of the call; each operand is fed separately.
    for (auto [number, operand] : llvm::enumerate(call.getOperands())) {
      if (StringAttr kind = routedKind(sample, operand)) {
        auto type = cast<RankedTensorType>(operand.getType());
        operands.push_back(routed->make(kind, type, shardings.operands[number], number));
        continue;
      }
      attributes.push_back(describe(sample, operand, number));
      operands.push_back(feed(block, operand.getType(), shardings.operands[number], whole));
    }
    SmallVector<Type> types;
    for (auto [result, sharding] : llvm::zip(call.getResults(), shardings.results))
      types.push_back(withSharding(result.getType(), whole ? replicated(result.getType()) : sharding));
    auto made = CallOp::create(builder, call.getLoc(), types, call.getTarget(), operands, call.getArgs(), StringAttr());
    if (call.getTarget() == "meshplan.route")
      routed->setRoute(made.getResult(0), made.getResult(1));
    finish(sample, function, made, routed, attributes);
  }

  /// The routed tensors of a sample that has some.
  std::optional<RoutedTensors> routedOf(func::FuncOp sample, Block *block, SmallVector<Attribute> &attributes,
                                        bool whole) {
    auto slots = sample->getAttrOfType<IntegerAttr>("sample.slots");
    if (!slots)
      return std::nullopt;
    auto addArgument = [this, block, &attributes](RankedTensorType type, const std::string &name) -> Value {
      attributes.push_back(inputNamed(name));
      return block->addArgument(type, builder.getUnknownLoc());
    };
    return RoutedTensors(builder, slots.getInt(), whole ? MeshOp() : mesh, addArgument);
  }

  static StringAttr routedKind(func::FuncOp sample, Value operand) {
    auto argument = dyn_cast<BlockArgument>(operand);
    return argument ? sample.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "sample.routed") : StringAttr();
  }

  /// Routes tokens as the first table or counts among the operands are divided.
  static void route(func::FuncOp sample, CallOp call, const CallShardings &shardings, RoutedTensors &routed) {
    for (auto [operand, sharding] : llvm::zip(call.getOperands(), shardings.operands))
      if (StringAttr kind = routedKind(sample, operand); kind && kind != "rows")
        return routed.route(cast<RankedTensorType>(operand.getType()), sharding);
  }

  ShardingAttr replicated(Type type) {
    return ShardingAttr::getReplicated(context, cast<RankedTensorType>(type).getRank());
  }

  /// The operand: an argument, or the sum of its addends.
  Value feed(Block *block, Type type, ShardingAttr sharding, bool whole) {
    Location location = builder.getUnknownLoc();
    if (!sharding.isPartial())
      return block->addArgument(withSharding(type, whole ? replicated(type) : sharding), location);
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape{shardCount(sharding.getPartialAxes(), mesh)};
    llvm::append_range(shape, tensor.getShape());
    SmallVector<DimShardingAttr> dims{DimShardingAttr::get(context, sharding.getPartialAxes())};
    llvm::append_range(dims, sharding.getDims());
    auto stacked = RankedTensorType::get(shape, tensor.getElementType());
    Value addends = block->addArgument(
        withSharding(stacked, whole ? replicated(stacked) : ShardingAttr::get(context, dims)), location);
    StringRef target = sharding.getReduction() == Reduction::max ? "aten.amax.default" : "aten.sum.dim_IntList";
    DictionaryAttr args = builder.getDictionaryAttr({{builder.getStringAttr("dim"), builder.getI64ArrayAttr({0})},
                                                     {builder.getStringAttr("self"), OperandRefAttr::get(context, 0)}});
    Type result = withSharding(type, whole ? replicated(type) : sharding);
    return CallOp::create(builder, location, result, target, addends, args, StringAttr()).getResult(0);
  }

  Attribute describe(func::FuncOp sample, Value operand, size_t number) {
    std::string name = llvm::Twine(number).str();
    auto argument = dyn_cast<BlockArgument>(operand);
    auto range = argument ? sample.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "sample.range") : ArrayAttr();
    if (argument && sample.getArgAttr(argument.getArgNumber(), "sample.counted"))
      name += ":counted";
    if (range)
      for (Attribute bound : range)
        name.append(":").append(boundText(bound));
    return inputNamed(name);
  }

  Attribute inputNamed(StringRef name) {
    return builder.getDictionaryAttr(
        {named<attr::Kind>(ArgumentKindAttr::get(builder.getContext(), ArgumentKind::input)),
         named<attr::Names>(builder.getStrArrayAttr({name}))});
  }

  static std::string boundText(Attribute bound) {
    if (auto integer = dyn_cast<IntegerAttr>(bound))
      return llvm::Twine(integer.getInt()).str();
    return llvm::formatv("{0}", cast<FloatAttr>(bound).getValueAsDouble()).str();
  }

  /// Returns the results, reduced if they are partial.
  void finish(func::FuncOp sample, func::FuncOp function, CallOp call, std::optional<RoutedTensors> &routed,
              const SmallVector<Attribute> &attributes) {
    SmallVector<Value> outputs;
    SmallVector<Attribute> names;
    for (auto [number, result] : llvm::enumerate(call.getResults())) {
      if (device != "cpu" && sample.getResultAttr(number, "sample.of_cpu"))
        continue;
      auto kind = sample.getResultAttrOfType<StringAttr>(number, "sample.routed");
      Value output = kind ? routed->sum(kind, result) : Value(result);
      if (ShardingAttr sharding = getSharding(output); sharding.isPartial())
        output = ReshardOp::create(builder, call.getLoc(), withSharding(output.getType(), sharding.withoutPartial()),
                                   output, StringAttr());
      outputs.push_back(output);
      StringRef mark = sample.getResultAttr(number, "sample.unspecified") ? ":unspecified" : "";
      names.push_back(builder.getDictionaryAttr(named<attr::Name>(builder.getStringAttr(llvm::Twine(number) + mark))));
    }
    func::ReturnOp::create(builder, builder.getUnknownLoc(), outputs);
    function.setType(builder.getFunctionType(function.getBody().getArgumentTypes(), ValueRange(outputs).getTypes()));
    function.setArgAttrsAttr(builder.getArrayAttr(attributes));
    function.setResAttrsAttr(builder.getArrayAttr(names));
  }

  OpBuilder builder;
  MLIRContext *context;
  StringRef device;
  MeshOp mesh;
};

int fail(const llvm::Twine &message) {
  llvm::errs() << "record-programs: " << message << '\n';
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4)
    return fail("needs SAMPLES.mlir and OUT.sched");
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> samples = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!samples)
    return 1;
  SmallVector<MeshAxisAttr> axes{MeshAxisAttr::get(&context, "a", 2), MeshAxisAttr::get(&context, "b", 3)};
  OwningOpRef<ModuleOp> programs(ModuleOp::create(UnknownLoc::get(&context)));
  const char *device = argc == 4 ? argv[3] : "cpu";
  ProgramWriter writer(*programs, axes, device);
  for (auto sample : samples->getOps<func::FuncOp>())
    writer.add(sample, axes);
  PassManager manager(&context);
  manager.addPass(createStoreRouted());
  manager.addPass(createLowerReshards());
  manager.addPass(createLocalizeCalls());
  manager.addPass(createSchedule());
  if (failed(manager.run(*programs)))
    return 1;
  FailureOr<std::vector<uint8_t>> bytes = serialize(*programs, {"test", "records", "records", device});
  if (failed(bytes))
    return 1;
  if (llvm::Error error = writeArtifact(argv[2], *bytes))
    return fail(llvm::toString(std::move(error)));
  return 0;
}
