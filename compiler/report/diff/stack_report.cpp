//===- stack_report.cpp - one parameter for the modules of a list ---------===//

#include "compiler/report/diff/stack_report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <set>

using namespace meshplan;
using llvm::StringRef;

static std::string nameIn(const StackedParameter &stacked, int64_t module, StringRef leaf) {
  return stacked.list + "." + std::to_string(module) + (leaf.empty() ? "" : "." + leaf.str());
}

/// `[24 over tp, 16]` of each of four modules is `[4, 24 over tp, 16]`.
static std::string stackedLayout(StringRef layout, int64_t modules) {
  layout.consume_front("[");
  return "[" + std::to_string(modules) + (layout.starts_with("]") ? "" : ", ") + layout.str();
}

/// The text if all are equal; else each once, in order.
static std::string oneText(llvm::ArrayRef<std::string> texts) {
  std::vector<StringRef> distinct;
  for (StringRef text : texts)
    if (!llvm::is_contained(distinct, text))
      distinct.push_back(text);
  return llvm::join(distinct, " and ");
}

/// The parameter of these ones.
static ParameterReport stack(llvm::ArrayRef<const ParameterReport *> parts, const StackedParameter &stacked) {
  ParameterReport whole = *parts.front();
  whole.names = {stacked.list + "." + stacked.leaf};
  whole.shape.insert(whole.shape.begin(), stacked.modules);
  whole.globalBytes = whole.rankBytes = 0;
  std::vector<std::string> dtypes, layouts, optimizers;
  for (const ParameterReport *part : parts) {
    dtypes.push_back(part->dtype);
    layouts.push_back(stackedLayout(part->layout, stacked.modules));
    optimizers.push_back(part->optimizer);
    whole.globalBytes += part->globalBytes;
    whole.rankBytes += part->rankBytes;
    whole.trainable |= part->trainable;
  }
  whole.dtype = oneText(dtypes);
  whole.layout = oneText(layouts);
  whole.optimizer = oneText(optimizers);
  return whole;
}

/// Makes one setting of those of equal name of these subjects, where all of them have it.
static void stackSettings(std::vector<Setting> &settings, Setting::Of of, const std::set<std::string> &subjects,
                          const std::string &whole) {
  llvm::StringMap<std::vector<size_t>> byName;
  for (auto [index, setting] : llvm::enumerate(settings))
    if (setting.of.first == of && subjects.count(setting.of.second))
      byName[setting.name].push_back(index);
  std::vector<bool> isGone(settings.size(), false);
  for (const auto &entry : byName) {
    const std::vector<size_t> &indices = entry.second;
    if (indices.size() != subjects.size())
      continue;
    std::vector<std::string> values;
    for (size_t index : indices) {
      values.push_back(settings[index].value);
      isGone[index] = index != indices.front();
    }
    settings[indices.front()].value = oneText(values);
    settings[indices.front()].of.second = whole;
  }
  size_t index = 0;
  llvm::erase_if(settings, [&](const Setting &) { return isGone[index++]; });
}

void meshplan::stackReport(Report &report, const StackedParameter &stacked) {
  std::set<std::string> names, modules;
  for (int64_t module = 0; module < stacked.modules; ++module) {
    names.insert(nameIn(stacked, module, stacked.leaf));
    modules.insert(nameIn(stacked, module, ""));
  }
  std::vector<const ParameterReport *> parts;
  for (const ParameterReport &parameter : report.parameters)
    if (names.count(parameter.names.front()))
      parts.push_back(&parameter);
  if (static_cast<int64_t>(parts.size()) != stacked.modules)
    return;
  ParameterReport whole = stack(parts, stacked);
  const std::string first = parts.front()->names.front();
  llvm::erase_if(report.parameters, [&](const ParameterReport &parameter) {
    return parameter.names.front() != first && names.count(parameter.names.front());
  });
  *llvm::find_if(report.parameters, [&](const ParameterReport &each) { return each.names.front() == first; }) = whole;
  report.settings.parameters -= stacked.modules - 1;
  stackSettings(report.settings.all, Setting::Of::parameter, names, whole.names.front());
  stackSettings(report.settings.all, Setting::Of::module, modules, stacked.list);
}
