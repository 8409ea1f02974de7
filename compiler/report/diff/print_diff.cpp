//===- print_diff.cpp - differences as text -------------------------------===//
//
// Only changes are listed, but each section says where there are none: an empty section would not tell whether it was
// compared.
//
//===----------------------------------------------------------------------===//

#include "compiler/report/diff/report_diff.h"
#include "compiler/report/text_table.h"
#include "compiler/support/layer_names.h"
#include "compiler/support/time_text.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <map>

using namespace meshplan;
using Align = TextTable::Align;
using llvm::raw_ostream;
using llvm::StringRef;

static std::string sizeText(int64_t size) { return size == 0 ? "none" : std::to_string(size); }

static void printMesh(const ReportDiff &diff, raw_ostream &stream) {
  stream << "mesh\n";
  TextTable table({Align::left, Align::right, Align::left, Align::left});
  auto row = [&](const std::string &name, Change<int64_t> size) {
    if (size.isSame())
      table.addRow({name, sizeText(size.before)});
    else
      table.addRow({name, sizeText(size.before), "->", sizeText(size.after)});
  };
  for (const AxisChange &axis : diff.axes)
    row(axis.name, axis.size);
  row("ranks", diff.worldSize);
  table.print(stream);
}

/// "model.layers.*.norm.weight (30), lm_head.weight"; only the number if the list is long.
static std::string subjectsText(const SettingChange &change, int64_t modelParameters) {
  constexpr size_t mostListed = 3;
  llvm::MapVector<std::string, std::vector<StringRef>, std::map<std::string, unsigned>> layers;
  for (const std::string &subject : change.subjects)
    layers[withoutIndices(subject)].push_back(subject);
  auto text = [](const auto &entry) {
    const auto &[pattern, names] = entry;
    return names.size() == 1 ? names.front().str() : pattern + " (" + std::to_string(names.size()) + ")";
  };
  if (layers.size() <= mostListed)
    return llvm::join(llvm::map_range(layers, text), ", ");
  auto count = static_cast<int64_t>(change.subjects.size());
  if (change.of == Setting::Of::module)
    return std::to_string(count) + " modules";
  return (count == modelParameters ? "all " : std::to_string(count) + " of ") + std::to_string(modelParameters) +
         " parameters";
}

static void printSettings(const ReportDiff &diff, raw_ostream &stream) {
  stream << "\nsettings\n";
  if (diff.settings.empty())
    stream << "  the same\n";
  TextTable table({Align::left, Align::left, Align::left, Align::left, Align::left});
  auto side = [](const std::string &value, const std::string &location) {
    return value.empty() ? "not stated" : location.empty() ? value : value + " (" + location + ")";
  };
  for (const SettingChange &change : diff.settings)
    table.addRow({change.name, side(change.value.before, change.location.before), "->",
                  side(change.value.after, change.location.after), subjectsText(change, diff.modelParameters)});
  table.print(stream);
}

static void printParameters(const ReportDiff &diff, raw_ostream &stream) {
  stream << "\nparameters\n";
  TextTable table({Align::left, Align::left, Align::left, Align::left, Align::right, Align::left, Align::right});
  auto layout = [](const ParameterChange &change, const std::string &dtype, const std::string &text) {
    return change.dtype.isSame() ? text : dtype + " " + text;
  };
  for (const ParameterChange &change : diff.parameters) {
    std::string count = change.count == 1 ? "" : " (" + std::to_string(change.count) + ")";
    table.addRow({change.name + count, layout(change, change.dtype.before, change.layout.before), "->",
                  layout(change, change.dtype.after, change.layout.after), formatBytes(change.rankBytes.before), "->",
                  formatBytes(change.rankBytes.after)});
  }
  table.print(stream);
  if (diff.parameters.empty())
    stream << "  all " << diff.sameParameters << " are the same\n";
  else if (diff.sameParameters > 0)
    stream << "  " << diff.sameParameters << (diff.sameParameters == 1 ? " other is" : " others are") << " the same\n";
}

static void printCollectives(const ReportDiff &diff, raw_ostream &stream) {
  stream << "\ncollectives of a rank, bytes sent and received\n";
  if (diff.collectives.empty())
    stream << "  the same\n";
  TextTable table(
      {Align::left, Align::left, Align::right, Align::left, Align::right, Align::right, Align::left, Align::right});
  for (const CollectiveChange &change : diff.collectives)
    table.addRow({"over " + change.axis, change.kind, std::to_string(change.count.before), "->",
                  std::to_string(change.count.after), formatBytes(change.bytes.before), "->",
                  formatBytes(change.bytes.after)});
  table.print(stream);
}

/// "+12.5 %"; empty if the first value is 0.
static std::string percentText(Change<int64_t> number) {
  if (number.before == 0)
    return "";
  std::string text;
  double change = 100.0 * static_cast<double>(number.after - number.before) / static_cast<double>(number.before);
  llvm::raw_string_ostream(text) << llvm::format("%+.1f %%", change);
  return text;
}

namespace {
/// Rows with a number before and after, and the change in percent.
class ChangeTable {
public:
  explicit ChangeTable(std::string (*format)(int64_t)) : format(format) {}

  void add(const char *what, Change<int64_t> number) {
    if (number.isSame())
      table.addRow({what, format(number.before), "", "the same"});
    else
      table.addRow({what, format(number.before), "->", format(number.after), percentText(number)});
  }

  void print(raw_ostream &stream) { table.print(stream); }

private:
  std::string (*format)(int64_t);
  TextTable table{{Align::left, Align::right, Align::left, Align::right, Align::right}};
};
} // namespace

static void printMemory(const ReportDiff &diff, raw_ostream &stream) {
  stream << "\nmemory of a rank\n";
  ChangeTable table(formatBytes);
  table.add("parameters", diff.parameterBytes);
  table.add("constants", diff.constantBytes);
  table.add("inputs", diff.inputBytes);
  if (diff.stateBytes.before != 0 || diff.stateBytes.after != 0)
    table.add("optimizer states", diff.stateBytes);
  table.add("peak", diff.peakBytes);
  if (diff.hostPeakBytes.before != 0 || diff.hostPeakBytes.after != 0)
    table.add("peak of the host", diff.hostPeakBytes);
  table.print(stream);
}

static void printTime(const ReportDiff &diff, raw_ostream &stream) {
  std::string basis = timeBasis(diff.machine);
  stream << "\nestimated time of a rank" << (basis.empty() ? "" : " " + basis) << '\n';
  ChangeTable table(timeText);
  table.add("compute", diff.computeTime);
  table.add("communication", diff.communicationTime);
  if (diff.copyTime.before != 0 || diff.copyTime.after != 0)
    table.add("copies with the host", diff.copyTime);
  table.add("exposed communication", diff.exposedTime);
  if (diff.exposedCopyTime.before != 0 || diff.exposedCopyTime.after != 0)
    table.add("exposed copies with the host", diff.exposedCopyTime);
  if (diff.hostWaitTime.before != 0 || diff.hostWaitTime.after != 0)
    table.add("waiting for the host", diff.hostWaitTime);
  table.add("whole", diff.stepTime);
  table.print(stream);
}

void meshplan::printDiff(const ReportDiff &diff, raw_ostream &stream) {
  printMesh(diff, stream);
  printSettings(diff, stream);
  printParameters(diff, stream);
  printCollectives(diff, stream);
  printMemory(diff, stream);
  printTime(diff, stream);
}
