//===- communicator_table.cpp - communicators and streams -----------------===//

#include "compiler/transforms/schedule/communicator_table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace meshplan {

CommunicatorTable::CommunicatorTable(plan::MeshOp mesh)
    : compute("compute"), communication("communication"), copies("copies") {
  auto isAxis = [&](StringRef name) {
    return mesh && llvm::any_of(mesh.getAxes().getAsRange<plan::MeshAxisAttr>(),
                                [&](plan::MeshAxisAttr axis) { return axis.getName() == name; });
  };
  // Names of communicators begin with an axis.
  for (std::string *name : {&compute, &communication, &copies})
    while (isAxis(*name))
      *name += "_";
}

std::string CommunicatorTable::useCopyStream(bool toHost) {
  copiesTo[toHost] = true;
  return copyStream(toHost);
}

std::vector<std::string> CommunicatorTable::streams() const {
  std::vector<std::string> names{compute};
  for (unsigned communicator = 0; communicator < communicators.size(); ++communicator)
    names.push_back(streamOf(communicator));
  for (bool toHost : {false, true})
    if (copiesTo[toHost])
      names.push_back(copyStream(toHost));
  return names;
}

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
