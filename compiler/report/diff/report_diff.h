//===- report_diff.h - differences between two plans ------------*- C++ -*-===//
//
// Compares the reports of two plans of one model. Plain structs and pure
// functions; rendered as text and as JSON with stable keys.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_REPORT_DIFF_REPORT_DIFF_H
#define MESHPLAN_COMPILER_REPORT_DIFF_REPORT_DIFF_H

#include "compiler/report/report.h"

namespace meshplan {

template <typename T> struct Change {
  T before{}, after{};

  bool isSame() const { return before == after; }
};

/// A mesh axis; size 0 if the plan has no axis of this name.
struct AxisChange {
  std::string name;
  Change<int64_t> size;
};

/// A parameter whose layout or dtype differs, or the parameters of equal layers that differ in the same way.
struct ParameterChange {
  std::string name; ///< "layers.*.weight" if there are more than one
  int64_t count = 0;
  Change<std::string> dtype, layout;
  Change<int64_t> rankBytes; ///< total on the largest rank
};

/// Collectives of one kind over one axis.
struct CollectiveChange {
  std::string axis, kind;
  Change<int64_t> count, bytes;
};

/// A setting that differs, or several of one name that differ in the same way.
struct SettingChange {
  std::string name;
  Setting::Of of = Setting::Of::run;
  std::vector<std::string> subjects = {}; ///< names of parameters or paths of modules; empty for the run
  Change<std::string> value;              ///< empty if the plan does not state it
  Change<std::string> location;           ///< empty if it is not known
};

struct ReportDiff {
  std::vector<SettingChange> settings; ///< differing settings, those of the first report first
  int64_t modelParameters = 0;         ///< number of parameters that settings may apply to
  std::vector<AxisChange> axes;        ///< all axes of both meshes
  Change<int64_t> worldSize;
  std::vector<ParameterChange> parameters;   ///< differing parameters, in the order of the first report
  int64_t sameParameters = 0;                ///< number of equal parameters
  std::vector<CollectiveChange> collectives; ///< differing collectives
  Change<int64_t> parameterBytes, constantBytes, inputBytes, stateBytes, peakBytes; ///< of the largest rank
  Change<int64_t> hostPeakBytes;                                                    ///< in host memory
  MachineReport machine;                                                            ///< of both reports
  /// Estimates in nanoseconds.
  Change<int64_t> computeTime, communicationTime, copyTime, exposedTime, exposedCopyTime, hostWaitTime, stepTime;
};

/// The reasons why the two reports are of different models: parameters that only one has, or that have different
/// shapes. Empty if they are of one model. `beforeName` and `afterName` are the names of the two in texts.
std::vector<std::string> modelDifferences(const Report &before, const Report &after, llvm::StringRef beforeName,
                                          llvm::StringRef afterName);

/// Compares reports of one model.
ReportDiff compareReports(const Report &before, const Report &after);

/// The differing settings of two plans of one model. Settings that only one plan has because of another difference are
/// left out: the numbers of a parameter that only one trains, the options of a block that only one has.
std::vector<SettingChange> compareSettings(const Settings &before, const Settings &after);

/// As text: only the differences, except for memory and time.
void printDiff(const ReportDiff &diff, llvm::raw_ostream &stream);

/// As JSON with stable keys.
llvm::json::Value diffToJson(const ReportDiff &diff);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_DIFF_REPORT_DIFF_H
