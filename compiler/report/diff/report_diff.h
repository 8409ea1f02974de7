//===- report_diff.h - what differs between two plans -----------*- C++ -*-===//
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

/// A mesh axis; size 0 where the plan has none of this name.
struct AxisChange {
  std::string name;
  Change<int64_t> size;
};

/// A parameter whose layout or dtype differs, or all of a name that differ alike in equal layers.
struct ParameterChange {
  std::string name; ///< "layers.*.weight" if there are more than one
  int64_t count = 0;
  Change<std::string> dtype, layout;
  Change<int64_t> rankBytes; ///< of all of them on the largest rank
};

/// Collectives of one kind over one axis.
struct CollectiveChange {
  std::string axis, kind;
  Change<int64_t> count, bytes;
};

/// A setting that differs, or all of one name that differ alike.
struct SettingChange {
  std::string name;
  Setting::Of of = Setting::Of::run;
  std::vector<std::string> subjects = {}; ///< names of parameters or paths of modules; none of the run
  Change<std::string> value;              ///< empty where the plan does not state it
  Change<std::string> place;              ///< empty where it is not known
};

struct ReportDiff {
  std::vector<SettingChange> settings; ///< that differ, those of the first report first
  int64_t modelParameters = 0;         ///< what settings are of
  std::vector<AxisChange> axes;        ///< all of both meshes
  Change<int64_t> worldSize;
  std::vector<ParameterChange> parameters;   ///< that differ, in the order of the first report
  int64_t sameParameters = 0;                ///< parameters that do not differ
  std::vector<CollectiveChange> collectives; ///< that differ
  Change<int64_t> parameterBytes, constantBytes, inputBytes, stateBytes, peakBytes; ///< of the largest rank
  Change<int64_t> hostPeakBytes;                                                    ///< in the memory of the host
  Change<int64_t> computeTime, communicationTime;                                   ///< as estimated, nanoseconds
};

/// Why the two reports are of different models: parameters that only one has, or that have another shape. Empty if they
/// are of one. `before` and `after` are what the texts call the two.
std::vector<std::string> modelDifferences(const Report &before, const Report &after, llvm::StringRef beforeName,
                                          llvm::StringRef afterName);

/// Compares reports of one model.
ReportDiff compareReports(const Report &before, const Report &after);

/// What differs of the settings of two plans of one model. What only one of them has because of another setting that
/// differs is left out: the numbers of a parameter that only one trains, the options of a block that only one has.
std::vector<SettingChange> compareSettings(const Settings &before, const Settings &after);

/// As people read it: only what differs, except for memory and time.
void printDiff(const ReportDiff &diff, llvm::raw_ostream &stream);

/// With stable keys.
llvm::json::Value diffToJson(const ReportDiff &diff);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_DIFF_REPORT_DIFF_H
