//===- print_times.cpp - the estimated times of a report ------------------===//

#include "compiler/report/print_times.h"
#include "compiler/report/text_table.h"
#include "compiler/support/time_text.h"
#include "llvm/Support/Format.h"

using namespace meshplan;
using Align = TextTable::Align;
using llvm::raw_ostream;

static std::string formatted(const char *format, double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(format, value);
  return text;
}

/// A part of a whole: "12.5 %".
static std::string percent(int64_t part, int64_t whole) {
  return whole == 0 ? "" : formatted("%.1f %%", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string meshplan::timesText(const Report &report) {
  const TimeReport &time = report.time;
  std::string basis = timeBasis(report.machine);
  if (time.step == 0)
    return timeText(time.compute) + " computing and " + timeText(time.communication) + " communicating" +
           (basis.empty() ? "" : " " + basis);
  std::string text = timeText(time.step) + (basis.empty() ? "" : " " + basis) + ": " + timeText(time.compute) +
                     " computing, " + timeText(time.exposed) + " of communication exposed";
  if (time.exposedCopies > 0)
    text += ", " + timeText(time.exposedCopies) + " of copies with the host exposed";
  return time.waitsForHost == 0 ? text : text + ", " + timeText(time.waitsForHost) + " waiting for the host";
}

/// "(1.2e+15 bf16 flops / 989e+12 flop/s) / 64 ranks / 22.9 ms": the numbers of the formula.
static std::string utilizationText(const Report &report) {
  std::string sum;
  for (const ModelFlops &flops : report.time.modelFlops)
    sum += (sum.empty() ? "" : " + ") + formatted("%.3g", flops.flops) + " " + flops.dtype + " flops / " +
           formatted("%.3g flop/s", flops.peak);
  return "= (" + sum + ") / " + std::to_string(report.worldSize) + (report.worldSize == 1 ? " rank / " : " ranks / ") +
         timeText(report.time.step);
}

void meshplan::printTimes(const Report &report, raw_ostream &stream) {
  const TimeReport &time = report.time;
  if (time.step == 0)
    return;
  stream << "\nestimated time of a " << (report.trains ? "step" : "forward pass") << '\n';
  TextTable times({Align::left, Align::right, Align::right, Align::left});
  times.addRow({"whole", timeText(time.step)});
  times.addRow({"computing", timeText(time.compute), percent(time.compute, time.step)});
  times.addRow({"exposed communication", timeText(time.exposed), percent(time.exposed, time.step)});
  if (time.exposedCopies > 0)
    times.addRow(
        {"exposed copies with the host", timeText(time.exposedCopies), percent(time.exposedCopies, time.step)});
  if (time.waitsForHost > 0)
    times.addRow({"waiting for the host", timeText(time.waitsForHost), percent(time.waitsForHost, time.step)});
  if (time.splittable > 0)
    times.addRow({"collectives in parts", std::to_string(time.split), "", "of " + std::to_string(time.splittable)});
  if (time.halves)
    times.addRow({"halves beside each other", *time.halves ? "yes" : "no", "", *time.halves ? "" : "not faster"});
  if (time.utilization)
    times.addRow(
        {"model flops utilization", "", formatted("%.1f %%", 100 * *time.utilization), utilizationText(report)});
  times.print(stream);
  if (time.groups.empty())
    return;
  stream << "\nestimated time of collectives\n";
  TextTable groups({Align::left, Align::left, Align::right, Align::right, Align::right, Align::left});
  for (const GroupTimeReport &group : time.groups)
    groups.addRow({group.purpose, "over " + group.communicator, std::to_string(group.count),
                   "exposed " + timeText(group.exposed), "hidden " + timeText(group.hidden),
                   percent(group.hidden, group.exposed + group.hidden) + " hidden"});
  groups.print(stream);
}
