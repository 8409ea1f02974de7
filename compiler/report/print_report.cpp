//===- print_report.cpp - the report as text ------------------------------===//
//
// Tables in the order of the questions of a reader: what the program costs in total, what the plan matched, where the
// memory and the time go, who causes the communication, and at last every parameter. A section without rows is left
// out.
//
//===----------------------------------------------------------------------===//

#include "compiler/cluster/read_cluster.h"
#include "compiler/report/print_times.h"
#include "compiler/report/report.h"
#include "compiler/report/text_table.h"
#include "compiler/support/layer_names.h"
#include "compiler/support/time_text.h"
#include "dialect/sched/sched.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace meshplan;
using Align = TextTable::Align;
using llvm::raw_ostream;
using llvm::StringRef;

std::string meshplan::formatBytes(int64_t bytes) {
  return countText({"B", "KiB", "MiB", "GiB", "TiB", "PiB"}, 1024, bytes);
}

static void printMesh(const Report &report, raw_ostream &stream) {
  stream << "mesh  ";
  llvm::interleaveComma(report.axes, stream,
                        [&](const AxisReport &axis) { stream << axis.name << " = " << axis.size; });
  stream << (report.axes.empty() ? "" : ", ") << report.worldSize << (report.worldSize == 1 ? " rank" : " ranks")
         << '\n';
}

static void printMachine(const MachineReport &machine, raw_ostream &stream) {
  if (machine.name.empty())
    return;
  stream << "machine  " << clusterText(machine.name, machine.file, machine.isAssumed) << ": ";
  if (machine.nodes != 0)
    stream << machine.nodes << (machine.nodes == 1 ? " node of " : " nodes of ");
  else
    stream << "nodes of ";
  stream << machine.devicesPerNode << " x " << machine.deviceName;
  if (machine.ranksPerDevice != 1)
    stream << ", each with " << machine.ranksPerDevice << " ranks";
  stream << '\n';
}

static void printLoss(const Report &report, raw_ostream &stream) {
  if (report.loss)
    stream << "loss  " << report.loss->meaning << " (" << report.loss->location << ": " << report.loss->statement
           << ")\n";
}

WeightCounts meshplan::countWeights(const Report &report) {
  WeightCounts counts;
  for (const ParameterReport &each : report.parameters) {
    int64_t elements = 1;
    for (int64_t extent : each.shape)
      elements *= extent;
    (each.buffer ? counts.buffers : counts.parameters) += elements;
    counts.trained += each.optimizer.empty() ? 0 : elements;
  }
  return counts;
}

int64_t meshplan::totalTraffic(const Report &report) {
  int64_t bytes = 0;
  for (const CommunicatorReport &communicator : report.communicators)
    for (const CollectiveTotal &total : communicator.collectives)
      bytes += total.bytes;
  return bytes;
}

/// "134,515,008"
static std::string formatCount(int64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3; at -= 3)
    text.insert(at - 3, ",");
  return text;
}

static std::string weightsText(const Report &report) {
  WeightCounts counts = countWeights(report);
  std::string text = formatCount(counts.parameters);
  if (report.trains)
    text += ": " + formatCount(counts.trained) + " trained, " + formatCount(counts.parameters - counts.trained) +
            " frozen or unused";
  return text + (counts.buffers > 0 ? "; " + formatCount(counts.buffers) + " elements of buffers" : "");
}

static void printTotals(const Report &report, raw_ostream &stream) {
  stream << "\ntotals\n";
  TextTable table({Align::left, Align::left});
  table.addRow({"parameters", weightsText(report)});
  table.addRow(
      {"peak memory of a rank", formatBytes(std::max(report.memory.peak.largest, report.memory.evaluation.largest))});
  table.addRow({"traffic of a rank", formatBytes(totalTraffic(report)) + " sent and received"});
  table.addRow({"estimated time", timesText(report)});
  table.print(stream);
}

static void printCoverage(const Report &report, raw_ostream &stream) {
  if (report.coverage.empty())
    return;
  stream << "\ncoverage\n";
  TextTable table({Align::left, Align::left, Align::right, Align::left});
  for (const CoverageLine &line : report.coverage)
    table.addRow({line.location, line.statement, std::to_string(line.matched),
                  llvm::formatv("of {0} {1}", line.total, line.what).str()});
  table.print(stream);
}

/// Exact bytes beside the rounded ones, and the least if it differs.
static void addBytesRow(TextTable &table, const char *what, BytesRange range) {
  std::string least = range.least == range.largest ? "" : "least " + formatBytes(range.least);
  table.addRow({what, formatBytes(range.largest), std::to_string(range.largest), least});
}

/// Prints nothing if everything is on the device.
static void printHostMemory(const MemoryReport &memory, raw_ostream &stream) {
  if (memory.hostPeak == 0)
    return;
  stream << "\nmemory of a rank on the host\n";
  TextTable table({Align::left, Align::right, Align::right, Align::left});
  if (memory.hostParameters.largest > 0)
    addBytesRow(table, "parameters", memory.hostParameters);
  if (memory.hostStates.largest > 0)
    addBytesRow(table, "optimizer states", memory.hostStates);
  addBytesRow(table, "peak", {memory.hostPeak, memory.hostPeak});
  table.print(stream);
}

static void printMemory(const MemoryReport &memory, raw_ostream &stream) {
  stream << "\nmemory of a rank" << (memory.hostPeak > 0 ? " on the device\n" : "\n");
  TextTable table({Align::left, Align::right, Align::right, Align::left});
  auto row = [&](const char *what, BytesRange range) { addBytesRow(table, what, range); };
  row("parameters", memory.parameters);
  row("constants", memory.constants);
  row("inputs", memory.inputs);
  if (memory.states.largest > 0)
    row("optimizer states", memory.states);
  if (memory.accumulators.largest > 0)
    row("accumulators", memory.accumulators);
  row("peak", memory.peak);
  if (memory.evaluation.largest > 0)
    row("peak of 'eval'", memory.evaluation);
  table.print(stream);
}

/// Nothing if the number of rows is known before a step.
static void printExperts(const std::optional<ExpertsReport> &experts, raw_ostream &stream) {
  if (!experts)
    return;
  stream << "\nexperts of a rank, by what the tokens choose\n";
  TextTable table({Align::left, Align::right, Align::right, Align::right});
  table.addRow({"", "most rows", "exchanged", "peak memory"});
  auto row = [&](const char *what, const ExpertLoad &load) {
    table.addRow({what, formatCount(load.rows), formatBytes(load.exchangeBytes), formatBytes(load.peak)});
  };
  row("balanced: every expert equally often", experts->balanced);
  if (experts->reserved)
    row("reserved: as the plan allows", *experts->reserved);
  row("worst: the experts of one rank", experts->worst);
  table.print(stream);
}

/// "aten.mm.default in model.layers.0"
static std::string locationText(const std::string &what, const std::string &module) {
  return module.empty() ? what : what + " in " + module;
}

static void printPeak(const std::optional<PeakReport> &peak, raw_ostream &stream) {
  if (!peak)
    return;
  stream << "\nheld at the peak, "
         << (peak->target == sched::peakAtEnd ? "at the end" : "at " + locationText(peak->target, peak->module))
         << '\n';
  TextTable table({Align::right, Align::left, Align::left, Align::right});
  for (const HeldReport &held : peak->held)
    table.addRow({std::to_string(held.count), held.tensor, held.module, formatBytes(held.bytes)});
  if (peak->others.count > 0)
    table.addRow({std::to_string(peak->others.count), "others", "", formatBytes(peak->others.bytes)});
  table.print(stream);
}

static void printTraffic(const Report &report, raw_ostream &stream) {
  stream << "\ncommunication of a rank, sent and received\n";
  TextTable table({Align::left, Align::left, Align::right, Align::right});
  for (const CommunicatorReport &communicator : report.communicators) {
    std::string over = llvm::formatv("over {0} ({1} ranks)", llvm::join(communicator.axes, ", "), communicator.ranks);
    for (const CollectiveTotal &total : communicator.collectives) {
      table.addRow({over, total.kind, std::to_string(total.count), formatBytes(total.bytes)});
      over.clear();
    }
  }
  bool none =
      llvm::all_of(report.communicators, [](const CommunicatorReport &each) { return each.collectives.empty(); });
  if (none)
    table.addRow({"none"});
  table.print(stream);
}

/// The cost of the plan's `activations`, and of the other type.
static void printActivationSums(const Report &report, raw_ostream &stream) {
  if (report.activationSums.empty())
    return;
  stream << "\npartial sums of activations, sent and received\n";
  TextTable table({Align::left, Align::right, Align::right, Align::left});
  for (const ActivationSums &sums : report.activationSums) {
    table.addRow({"in " + sums.dtype, std::to_string(sums.count), formatBytes(sums.bytes)});
    table.addRow({"in " + sums.otherDtype, "", formatBytes(sums.otherBytes),
                  "with 'precision { activations " + sums.otherDtype + " }'"});
  }
  table.print(stream);
}

static void printStatements(const Report &report, raw_ostream &stream) {
  if (report.statements.empty())
    return;
  stream << "\ncollectives by plan statement\n";
  TextTable table({Align::left, Align::left, Align::left, Align::left, Align::right, Align::right});
  for (const StatementReport &statement : report.statements) {
    std::string location = statement.file.empty()
                               ? std::string("(no statement)")
                               : llvm::formatv("{0}:{1}:{2}", statement.file, statement.line, statement.column).str();
    table.addRow({location, statement.text, statement.total.kind, "over " + statement.communicator,
                  std::to_string(statement.total.count), formatBytes(statement.total.bytes)});
  }
  table.print(stream);
}

static void printDerivatives(const Report &report, raw_ostream &stream) {
  if (report.derivatives.empty())
    return;
  stream << "\noperators recomputed for their derivatives\n";
  TextTable table({Align::left, Align::right});
  for (const RepeatedOperator &each : report.derivatives)
    table.addRow({each.target, std::to_string(each.count)});
  table.print(stream);
}

void meshplan::printWithoutCost(const Report &report, raw_ostream &stream) {
  if (report.withoutCost.empty())
    return;
  stream << "\noperators without a cost, whose time is estimated from the bytes of their operands and results\n";
  TextTable table({Align::left, Align::right});
  for (const RepeatedOperator &each : report.withoutCost)
    table.addRow({each.target, std::to_string(each.count)});
  table.print(stream);
}

static void printParameters(const Report &report, raw_ostream &stream) {
  struct Group {
    const ParameterReport *first;
    int64_t count = 0;
  };
  llvm::MapVector<std::string, Group, std::map<std::string, unsigned>> groups;
  for (const ParameterReport &parameter : report.parameters) {
    std::string key = parameter.dtype + ' ' + parameter.layout + ' ' + parameter.optimizer;
    // Layers of a model differ only in their indices: 32 rows with equal contents become one row "32 layers.*.weight".
    for (const std::string &name : parameter.names)
      key += ' ' + withoutIndices(name);
    Group &group = groups.insert({key, {&parameter, 0}}).first->second;
    ++group.count;
  }
  stream << "\nparameters\n";
  TextTable table({Align::right, Align::left, Align::left, Align::left, Align::right, Align::left, Align::left});
  for (const auto &[key, group] : groups) {
    const ParameterReport &parameter = *group.first;
    std::string names;
    for (const std::string &name : parameter.names)
      names.append(names.empty() ? "" : " = ").append(group.count == 1 ? name : withoutIndices(name));
    table.addRow({std::to_string(group.count), names, parameter.dtype, parameter.layout,
                  formatBytes(group.count * parameter.rankBytes),
                  "of " + formatBytes(group.count * parameter.globalBytes), parameter.optimizer});
  }
  table.print(stream);
}

void meshplan::printReport(const Report &report, raw_ostream &stream) {
  printMesh(report, stream);
  printMachine(report.machine, stream);
  printLoss(report, stream);
  printTotals(report, stream);
  printCoverage(report, stream);
  printMemory(report.memory, stream);
  printHostMemory(report.memory, stream);
  printExperts(report.experts, stream);
  printPeak(report.memory.atPeak, stream);
  printTimes(report, stream);
  printTraffic(report, stream);
  printActivationSums(report, stream);
  printStatements(report, stream);
  printDerivatives(report, stream);
  printWithoutCost(report, stream);
  printParameters(report, stream);
}
