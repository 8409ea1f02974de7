//===- record_coverage.cpp - records whose calls a plan shards ------------===//
//
// record-coverage           prints the target of every record
// record-coverage F.plan    prints how the operands and results of each operator are sharded
//
// A line is a target and, after a tab, the cause of a sharding of one of its operands or results: the text of the
// plan's statement, or one of `uneven`, `parts` and `tied`. Operators are read after propagation; those that are only
// local forms of others are read after partition.
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/compile.h"
#include "compiler/sharding/op_record.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>
#include <set>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

class RecordCoverage {
public:
  /// With `kernels`, only operators that replace another operator on a rank.
  void read(ModuleOp module, bool kernels) {
    mesh = *module.getOps<MeshOp>().begin();
    for (func::FuncOp function : module.getOps<func::FuncOp>()) {
      findTied(function);
      function.walk([&](CallOp call) {
        if (kernels && !call.getTarget().starts_with("meshplan."))
          return;
        for (Value value : call.getOperands())
          addValue(call.getTarget(), value);
        for (Value value : call.getResults())
          addValue(call.getTarget(), value);
      });
    }
  }

  void print() const {
    for (const std::string &line : lines)
      llvm::outs() << line << '\n';
  }

private:
  /// A parameter with several names is read by several modules.
  void findTied(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      if (auto names = argAttr<attr::Names>(function, argument.getArgNumber()); names && names.size() > 1)
        tied.insert(argument.getLoc());
  }

  void addValue(StringRef target, Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    ShardingAttr sharding = getSharding(value);
    if (!sharding)
      return;
    for (auto [extent, dim] : llvm::zip(type.getShape(), sharding.getDims())) {
      addAxes(target, value, dim.getAxes());
      if (!dim.getAxes().empty() && isUneven(extent, dim))
        add(target, "uneven");
      if (!dim.getParts().empty())
        add(target, "parts");
    }
    if (sharding.isPartial())
      addAxes(target, value, sharding.getPartialAxes());
  }

  void addAxes(StringRef target, Value value, ArrayRef<AxisRefAttr> axes) {
    if (axes.empty())
      return;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
      auto style = argAttr<attr::Style>(function, argument.getArgNumber());
      addCause(target, style ? style.getValue() : stringifyArgumentKind(*argumentKind(argument)), argument.getLoc());
      return;
    }
    for (CauseAttr cause : getCauses(value.getLoc()))
      for (AxisRefAttr axis : axes)
        if (axis.getName() == cause.getAxis() && shardCount(axis, mesh) > 1)
          addCause(target, cause.getText() ? cause.getText().getValue() : "", cause.getStatement());
  }

  void addCause(StringRef target, StringRef text, Location statement) {
    add(target, text);
    if (tied.contains(statement))
      add(target, "tied");
  }

  /// True if some shards of the dim, or of a part of it, have one block more than others.
  bool isUneven(int64_t extent, DimShardingAttr dim) const {
    SmallVector<DimPart> parts(dim.getParts());
    if (parts.empty())
      parts.emplace_back(extent, dim.getUnit());
    int64_t shards = shardCount(dim.getAxes(), mesh);
    return llvm::any_of(parts, [&](const DimPart &part) { return part.extent / part.unit % shards != 0; });
  }

  void add(StringRef target, StringRef what) { lines.insert((target + "\t" + what).str()); }

  MeshOp mesh;
  llvm::DenseSet<Location> tied;
  std::set<std::string> lines;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    for (StringRef target : OpRegistry::get().targets())
      llvm::outs() << target << '\n';
    return 0;
  }
  RecordCoverage coverage;
  for (Phase last : {Phase::propagate, Phase::partition}) {
    CompileOptions options;
    options.planFile = argv[1];
    Compilation compilation(options);
    if (!compilation.run(last)) {
      compilation.diagnostics().print(llvm::errs());
      return 1;
    }
    coverage.read(compilation.module(), last == Phase::partition);
  }
  coverage.print();
  return 0;
}
