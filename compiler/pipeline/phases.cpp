//===- phases.cpp - the phases of the compiler by name --------------------===//

#include "compiler/pipeline/phases.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace meshplan;

llvm::StringRef meshplan::phaseName(Phase phase) {
  switch (phase) {
  case Phase::import:
    return "import";
  case Phase::place:
    return "place";
  case Phase::differentiate:
    return "differentiate";
  case Phase::propagate:
    return "propagate";
  case Phase::partition:
    return "partition";
  case Phase::group:
    return "group";
  case Phase::schedule:
    return "schedule";
  }
  llvm_unreachable("unknown phase");
}

std::optional<Phase> meshplan::parsePhase(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Phase>>(name)
      .Case("import", Phase::import)
      .Case("place", Phase::place)
      .Case("differentiate", Phase::differentiate)
      .Case("propagate", Phase::propagate)
      .Case("partition", Phase::partition)
      .Case("group", Phase::group)
      .Case("schedule", Phase::schedule)
      .Default(std::nullopt);
}

Phase meshplan::nextPhase(Phase phase) { return static_cast<Phase>(static_cast<int>(phase) + 1); }

llvm::StringRef meshplan::phaseNames() { return "import, place, differentiate, propagate, partition, group, schedule"; }
