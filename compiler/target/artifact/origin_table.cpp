//===- origin_table.cpp - where instructions come from --------------------===//

#include "compiler/target/artifact/origin_table.h"
#include "compiler/target/artifact/enums.h"
#include "dialect/sched/sched.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace meshplan {

int32_t OriginTable::sourceOf(Location location, StringAttr text) {
  FileLineColRange range = sched::getPlanLocation(location);
  if (!range)
    return -1;
  auto [entry, inserted] = sourceIndex.try_emplace(Key(range, text), sources.size());
  if (inserted) {
    auto source = std::make_unique<artifact::SourceT>();
    // Without the folder, so that the bytes do not depend on the folder that the compiler runs in.
    source->file = llvm::sys::path::filename(range.getFilename().getValue()).str();
    source->line = range.getStartLine();
    source->column = range.getStartColumn();
    source->text = text ? text.str() : "";
    sources.push_back(std::move(source));
  }
  return entry->second;
}

int32_t OriginTable::originOf(Operation *step) {
  auto module = step->getAttrOfType<StringAttr>("module");
  auto direction = step->getAttrOfType<base::DirectionAttr>(sched::SchedDialect::DirectionAttrHelper::getNameStr());
  int32_t source = sourceOf(step->getLoc(), step->getAttrOfType<StringAttr>("cause"));
  if (source < 0 && !module && !direction)
    return -1;
  auto [entry, inserted] = originIndex.try_emplace({source, module, direction}, origins.size());
  if (inserted) {
    auto origin = std::make_unique<artifact::OriginT>();
    origin->plan = source;
    origin->module_ = module ? module.str() : "";
    origin->direction = direction ? toArtifact(direction.getValue()) : artifact::Direction::forward;
    origins.push_back(std::move(origin));
  }
  return entry->second;
}

void OriginTable::moveInto(artifact::ScheduleT &schedule) {
  schedule.sources = std::move(sources);
  schedule.origins = std::move(origins);
}

} // namespace meshplan
