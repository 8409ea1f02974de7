//===- units.cpp - parameters and units of data blocks --------------------===//
//
// A parameter belongs to the data block whose `on` names it, else to the block
// without `on`. Units are listed within a block: `unit layers.*` makes a unit of
// each layer, and `unit [norm, lm_head]` makes one of both.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <set>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

using Owners = std::vector<const BoundData *>;

std::string pathOf(const Context &context, size_t parameter) {
  return "'" + parameterPath(context.model, context.model.parameters[parameter]) + "'";
}

/// The block whose `on` names each parameter.
Owners findOwners(const Context &context, const BoundPlan &plan) {
  Owners owner(context.model.parameters.size(), nullptr);
  for (size_t i = 0; i < plan.data.size(); ++i)
    for (const BoundPaths &paths : bindPaths(context, context.syntax.data[i].paths))
      for (size_t parameter : paths.parameters) {
        if (owner[parameter] != nullptr && owner[parameter] != &plan.data[i]) {
          context.diagnostics.error(paths.range, "parameter " + pathOf(context, parameter) + " is in two data blocks")
              .note(owner[parameter]->range, "the other block is here");
          break;
        }
        owner[parameter] = &plan.data[i];
      }
  return owner;
}

/// The block without `on`, which has all parameters that no other block names.
const BoundData *findGeneral(const Context &context, const BoundPlan &plan) {
  const BoundData *general = nullptr;
  for (size_t i = 0; i < plan.data.size(); ++i) {
    if (!context.syntax.data[i].paths.empty())
      continue;
    if (general != nullptr)
      context.diagnostics.error(plan.data[i].range, "two data blocks have no 'on'")
          .note(general->range, "the other block is here")
          .help("name its parameters: 'data AXES on PATHS { ... }'");
    general = &plan.data[i];
  }
  return general;
}

/// The units of one block.
class UnitChecker {
public:
  UnitChecker(const Context &context, const BoundData &data, const Owners &owners)
      : context(context), data(data), owners(owners), claims(owners.size()) {
    for (size_t i = 0; i < context.model.modules.size(); ++i)
      moduleOf[context.model.modules[i].path] = i;
  }

  void run();

  /// The parameters of each unit.
  std::vector<std::vector<size_t>> parameters() const;

private:
  void addModules(const BoundPaths &paths, std::vector<std::vector<size_t>> &units) const;
  void checkOutside(const BoundPaths &paths) const;
  void checkOther(const std::vector<BoundPaths> &unit);
  void checkNested(const BoundPaths &paths) const;
  std::vector<size_t> holders(size_t parameter, const std::set<size_t> &modules) const;

  const Context &context;
  const BoundData &data;
  const Owners &owners;
  struct UnitClaim {
    const std::vector<BoundPaths> *unit = nullptr;
    SourceRange range;
  };
  std::vector<UnitClaim> claims; ///< by parameter: the first unit that names it
  llvm::StringMap<size_t> moduleOf;
};

} // namespace

void UnitChecker::run() {
  for (const std::vector<BoundPaths> &unit : data.units) {
    checkOther(unit);
    if (unit.size() == 1)
      checkNested(unit.front());
    for (const BoundPaths &paths : unit)
      checkOutside(paths);
  }
  for (const BoundPaths &paths : data.keep)
    checkOutside(paths);
}

std::vector<std::vector<size_t>> UnitChecker::parameters() const {
  std::vector<std::vector<size_t>> units;
  for (const std::vector<BoundPaths> &unit : data.units) {
    if (unit.size() == 1) {
      addModules(unit.front(), units);
      continue;
    }
    std::set<size_t> together;
    for (const BoundPaths &paths : unit)
      together.insert(paths.parameters.begin(), paths.parameters.end());
    units.emplace_back(together.begin(), together.end());
  }
  return units;
}

/// Adds a unit for each module, and one for each parameter that is named itself.
void UnitChecker::addModules(const BoundPaths &paths, std::vector<std::vector<size_t>> &units) const {
  std::set<size_t> modules(paths.modules.begin(), paths.modules.end());
  std::map<size_t, std::vector<size_t>> byModule;
  for (size_t parameter : paths.parameters)
    // A parameter with several holders was reported by checkNested; any of them will do.
    if (std::vector<size_t> found = holders(parameter, modules); !found.empty())
      byModule[found.front()].push_back(parameter);
    else
      units.push_back({parameter});
  for (auto &[module, held] : byModule)
    units.push_back(std::move(held));
}

void UnitChecker::checkOutside(const BoundPaths &paths) const {
  bool isInside = llvm::any_of(paths.parameters, [&](size_t parameter) { return owners[parameter] == &data; });
  if (isInside || paths.parameters.empty())
    return;
  size_t first = paths.parameters.front();
  Diagnostic &error =
      context.diagnostics.error(paths.range, "'" + paths.text + "' names no parameter of this data block");
  if (owners[first] != nullptr)
    error.note(owners[first]->range, pathOf(context, first) + " is in this block");
  error.help("name parameters that the block has");
}

void UnitChecker::checkOther(const std::vector<BoundPaths> &unit) {
  for (const BoundPaths &paths : unit) {
    bool isReported = false;
    for (size_t parameter : paths.parameters) {
      UnitClaim &claim = claims[parameter];
      if (claim.unit == nullptr)
        claim = {&unit, paths.range};
      if (claim.unit == &unit || isReported)
        continue;
      context.diagnostics.error(paths.range, "parameter " + pathOf(context, parameter) + " is in two units")
          .note(claim.range, "the other unit is here")
          .help("remove it from one of the two, or write '[PATH, PATH]' for one unit");
      isReported = true;
    }
  }
}

/// Reports nested modules of one path: each is a unit, so they must not share parameters.
void UnitChecker::checkNested(const BoundPaths &paths) const {
  std::set<size_t> modules(paths.modules.begin(), paths.modules.end());
  for (size_t parameter : paths.parameters) {
    std::vector<size_t> found = holders(parameter, modules);
    if (found.size() < 2)
      continue;
    context.diagnostics
        .error(paths.range, "'" + paths.text + "' makes '" + context.model.modules[found[0]].path + "' and '" +
                                context.model.modules[found[1]].path + "' units, and both contain parameter " +
                                pathOf(context, parameter))
        .help("name modules that share no parameter, or write '[PATH, PATH]' for one unit");
    return;
  }
}

/// The modules of the set that hold the parameter, directly or in a module below them, sorted.
std::vector<size_t> UnitChecker::holders(size_t parameter, const std::set<size_t> &modules) const {
  std::set<size_t> result;
  for (const OutlineParameterName &name : context.model.parameters[parameter].names)
    for (llvm::StringRef path = context.model.modules[name.module].path;;
         path = path.contains('.') ? path.rsplit('.').first : "") {
      if (auto module = moduleOf.find(path); module != moduleOf.end() && modules.count(module->second) != 0)
        result.insert(module->second);
      if (path.empty())
        break;
    }
  return {result.begin(), result.end()};
}

void bind::assignParameters(const Context &context, BoundPlan &plan) {
  Owners owners = findOwners(context, plan);
  const BoundData *general = findGeneral(context, plan);
  for (const BoundData *&owner : owners)
    if (owner == nullptr)
      owner = general;
  for (BoundData &data : plan.data) {
    for (size_t parameter = 0; parameter < owners.size(); ++parameter)
      if (owners[parameter] == &data)
        data.parameters.push_back(parameter);
    UnitChecker checker(context, data, owners);
    checker.run();
    data.unitParameters = checker.parameters();
  }
}
