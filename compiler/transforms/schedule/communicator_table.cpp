//===- communicator_table.cpp - the communicators of a module -------------===//

#include "compiler/transforms/schedule/communicator_table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace meshplan {

unsigned CommunicatorTable::get(ArrayAttr axes, LayoutTable &layouts) {
  auto [entry, inserted] = byAxes.try_emplace(axes, communicators.size());
  if (!inserted)
    return entry->second;
  std::string name;
  llvm::raw_string_ostream stream(name);
  SmallVector<plan::AxisRefAttr> refs(axes.getAsRange<plan::AxisRefAttr>());
  llvm::interleave(
      refs, stream,
      [&](plan::AxisRefAttr axis) {
        stream << axis.getName();
        if (!axis.isWhole())
          stream << '.' << axis.getPre() << '.' << axis.getSize();
      },
      "."); // axis names have no dots, so different lists get different names
  communicators.push_back({std::move(name), layouts.resolve(refs)});
  return entry->second;
}

} // namespace meshplan
