//===- adopted_styles.cpp - the styles of a foreign plan ------------------===//

#include "compiler/draft/adopted_styles.h"
#include "compiler/sharding/dataflow/module_border.h"
#include "compiler/support/layer_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace meshplan;
using llvm::StringRef;

std::vector<StyleChoice> meshplan::takeAdoptedStyles(const AdoptedPlan &plan, Draft &draft) {
  std::vector<StyleChoice> choices;
  std::map<std::string, size_t> groups;
  auto groupOf = [&](StringRef module) {
    std::string pattern = withoutIndices(module);
    std::string key = StringRef(pattern).contains("*") ? StringRef(pattern).rsplit('.').first.str() : pattern;
    return groups.try_emplace(key, groups.size()).first->second;
  };
  std::set<std::string> known;
  for (const AdoptedStyle &style : *plan.styles) {
    // The clause is the foreign plan's; the kind only says whether something is split.
    DraftStyle kind = style.sequence ? DraftStyle::sequence : style.divides ? DraftStyle::colwise : DraftStyle::whole;
    StyleChoice choice;
    choice.path = style.module, choice.style = kind, choice.group = groupOf(style.module);
    choices.push_back(std::move(choice));
    draft.styles.push_back({style.module, style.clause + (style.from.empty() ? "" : "  // " + style.from)});
    known.insert(style.module);
    if (!llvm::is_contained(draft.modules, style.module))
      draft.modules.push_back(style.module); // it holds no parameter
  }
  for (const AdoptedWhole &module : plan.whole)
    if (known.insert(module.module).second)
      draft.undivided.push_back({module.module, module.reason});
  for (const OutlineParameter &parameter : draft.model->parameters)
    for (const OutlineParameterName &name : parameter.names)
      if (const std::string &path = draft.model->modules[name.module].path;
          parameter.shape.size() > 1 && known.insert(path).second)
        draft.undivided.push_back({path, "the plan does not name it"});
  return choices;
}

std::map<std::string, std::string> meshplan::wholeInputClauses(const AdoptedPlan &plan, mlir::func::FuncOp program) {
  std::map<std::string, std::string> clausesOf;
  for (const std::string &module : plan.wholeInputs) {
    auto [known, isNew] = clausesOf.try_emplace(module);
    if (!isNew)
      continue;
    for (auto [index, input] : llvm::enumerate(findBorder(program, module).inputs)) {
      auto rank = static_cast<size_t>(mlir::cast<mlir::RankedTensorType>(input.value.getType()).getRank());
      std::string dims = llvm::join(std::vector<std::string>(rank, "_"), ", ");
      if (rank > 0)
        known->second += ", input " + (index > 0 ? std::to_string(index) + " " : std::string()) + "[" + dims + "]";
    }
  }
  return clausesOf;
}
