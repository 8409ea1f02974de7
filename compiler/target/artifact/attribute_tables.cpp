//===- attribute_tables.cpp - attributes as tables of the artifact --------===//

#include "compiler/target/artifact/attribute_tables.h"
#include "compiler/target/artifact/enums.h"

using namespace mlir;
using namespace meshplan;

std::vector<artifact::AxisRef> meshplan::toAxisRefTable(ArrayRef<meshplan::AxisRef> axes) {
  std::vector<artifact::AxisRef> table;
  table.reserve(axes.size());
  for (const meshplan::AxisRef &axis : axes)
    table.emplace_back(axis.axis, axis.pre, axis.size);
  return table;
}

std::vector<std::unique_ptr<artifact::AxisT>> meshplan::toAxisTable(ArrayAttr meshAxes) {
  std::vector<std::unique_ptr<artifact::AxisT>> table;
  for (auto axis : meshAxes.getAsRange<sched::MeshAxisAttr>()) {
    auto entry = std::make_unique<artifact::AxisT>();
    entry->name = axis.getName().str();
    entry->size = axis.getSize();
    table.push_back(std::move(entry));
  }
  return table;
}

std::unique_ptr<artifact::InitT> meshplan::toInit(base::InitAttr init) {
  auto table = std::make_unique<artifact::InitT>();
  table->kind = toArtifact(init.getKind());
  table->value = base::numberOf(init.getValue());
  table->low = base::numberOf(init.getLow());
  table->high = base::numberOf(init.getHigh());
  table->mean = base::numberOf(init.getMean());
  table->std = base::numberOf(init.getStd());
  return table;
}

std::unique_ptr<artifact::GuardT> meshplan::toGuard(base::GuardAttr guard) {
  auto entry = std::make_unique<artifact::GuardT>();
  entry->output = base::nonfiniteOutput.str();
  entry->stops = guard.getStops();
  entry->growth = base::numberOf(guard.getGrowth());
  entry->backoff = base::numberOf(guard.getBackoff());
  entry->interval = guard.getInterval();
  return entry;
}

std::unique_ptr<artifact::RateScheduleT> meshplan::toRateSchedule(base::RateScheduleAttr schedule) {
  auto entry = std::make_unique<artifact::RateScheduleT>();
  entry->kind = toArtifact(schedule.getKind());
  entry->warmup = schedule.getWarmup();
  entry->steps = schedule.getSteps();
  entry->decay = schedule.getDecay();
  entry->min = base::numberOf(schedule.getMin());
  return entry;
}
