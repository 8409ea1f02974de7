//===- prefetch_gathers.cpp - gathers units before they are needed --------===//
//
// See PrefetchGathers in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/group/data_collectives.h"
#include "compiler/transforms/group/moves.h"
#include "compiler/transforms/group/passes.h"
#include "dialect/plan/attributes.h"
#include "llvm/ADT/MapVector.h"

namespace meshplan {
#define GEN_PASS_DEF_PREFETCHGATHERS
#include "compiler/transforms/group/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// The gathers of one unit for the forward or the backward pass, and their first reader.
namespace {
struct Unit {
  SmallVector<Operation *> gathers;
  Operation *firstReader = nullptr;
  int64_t prefetch = 0;
};
} // namespace

static Operation *firstReader(ArrayRef<Operation *> gathers) {
  Operation *first = nullptr;
  for (Operation *gather : gathers)
    for (Operation *user : gather->getUsers())
      if (!first || user->isBeforeInBlock(first))
        first = user;
  return first;
}

static SmallVector<Unit> unitsOf(func::FuncOp function) {
  llvm::MapVector<std::pair<int64_t, int>, Unit> units;
  for (const DataCollective &collective : findDataCollectives(function)) {
    if (!collective.isGather())
      continue;
    // A unit is gathered once for each pass, at two positions, so it counts as two.
    Unit &unit = units[{unitOf(collective.parameter), static_cast<int>(collective.traffic)}];
    unit.gathers.push_back(collective.op);
    DataOp data = dataOf(collective.parameter);
    unit.prefetch = data.getPrefetch();
  }
  SmallVector<Unit> list;
  for (auto &[key, unit] : units) {
    unit.firstReader = firstReader(unit.gathers);
    list.push_back(std::move(unit));
  }
  return list;
}

static void prefetch(func::FuncOp function) {
  SmallVector<Unit> units = unitsOf(function);
  for (auto [index, unit] : llvm::enumerate(units)) {
    // The first unit has nothing before it to overlap with.
    if (unit.prefetch == 0 || index == 0)
      continue;
    // Earlier gathers have moved up already, but readers have not, so their positions are still those of the
    // computation.
    Operation *place = units[std::max<int64_t>(0, index - unit.prefetch)].firstReader;
    moveUp(unit.gathers, place);
  }
}

namespace {

struct PrefetchGathersPass : meshplan::impl::PrefetchGathersBase<PrefetchGathersPass> {
  void runOnOperation() final {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      prefetch(function);
      for (unsigned index = 0; index < function.getNumArguments(); ++index) {
        function.removeArgAttr(index, attr::Data::getNameStr());
        function.removeArgAttr(index, attr::Unit::getNameStr());
      }
    }
    for (auto statement : llvm::make_early_inc_range(getOperation().getOps<DataOp>()))
      statement.erase();
  }
};

} // namespace
