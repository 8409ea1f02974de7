//===- setting_diff.cpp - differences in settings -------------------------===//

#include "compiler/report/diff/report_diff.h"
#include <map>

using namespace meshplan;

namespace {
using Subject = std::pair<Setting::Of, std::string>;

/// The settings of one plan by subject and name.
class SettingTable {
public:
  explicit SettingTable(const Settings &settings) {
    for (const Setting &setting : settings.all)
      known.try_emplace({setting.of, setting.name}, &setting);
  }

  const Setting *find(const Subject &subject, const std::string &name) const {
    auto entry = known.find({subject, name});
    return entry == known.end() ? nullptr : entry->second;
  }

  /// The setting that this one depends on.
  const Setting *containerOf(const Setting &setting) const {
    const Setting *own = find(setting.of, setting.container);
    return own ? own : find({}, setting.container);
  }

private:
  std::map<std::pair<Subject, std::string>, const Setting *> known;
};

class SettingComparison {
public:
  SettingComparison(const Settings &before, const Settings &after) : first(before), second(after) {}

  /// Compares two settings. One of them may be null.
  void add(const Setting *before, const Setting *after);

  std::vector<SettingChange> changes;
  SettingTable first, second;

private:
  bool isBroughtByOne(const Setting &setting) const;

  std::map<std::vector<std::string>, size_t> known;
};
} // namespace

static std::string valueOf(const Setting *setting) { return setting ? setting->value : ""; }
static std::string locationOf(const Setting *setting) { return setting ? setting->location : ""; }

/// True if the setting that this one depends on differs, and is therefore reported.
bool SettingComparison::isBroughtByOne(const Setting &setting) const {
  return !setting.container.empty() && valueOf(first.containerOf(setting)) != valueOf(second.containerOf(setting));
}

void SettingComparison::add(const Setting *before, const Setting *after) {
  const Setting &either = before ? *before : *after;
  if (valueOf(before) == valueOf(after) || ((!before || !after) && isBroughtByOne(either)))
    return;
  const auto &[of, subject] = either.of;
  // Subjects with the same change are one entry: a new style for a layer changes a setting of 32 layers, and one line
  // says so. Locations are part of the key, because two statements that happen to have the same effect are two changes.
  std::vector<std::string> key{either.name, valueOf(before), locationOf(before), valueOf(after), locationOf(after)};
  if (of == Setting::Of::run)
    key.push_back("run");
  auto [entry, inserted] = known.try_emplace(std::move(key), changes.size());
  if (inserted)
    changes.push_back(
        {either.name, of, {}, {valueOf(before), valueOf(after)}, {locationOf(before), locationOf(after)}});
  if (of != Setting::Of::run)
    changes[entry->second].subjects.push_back(subject);
}

std::vector<SettingChange> meshplan::compareSettings(const Settings &before, const Settings &after) {
  SettingComparison comparison(before, after);
  for (const Setting &setting : before.all)
    comparison.add(&setting, comparison.second.find(setting.of, setting.name));
  for (const Setting &setting : after.all)
    if (!comparison.first.find(setting.of, setting.name))
      comparison.add(nullptr, &setting);
  return std::move(comparison.changes);
}
