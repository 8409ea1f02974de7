//===- export.cpp - meshplan-run export -----------------------------------===//

#include "runtime/checkpoint/export.h"
#include "tools/meshplan_run/ranks/ranks.h"

#include <iostream>
#include <nlohmann/json.hpp>

using namespace meshplan;

static std::optional<DType> exportedDType(std::string_view name) {
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64})
    if (dtypeName(dtype) == name)
      return dtype;
  return std::nullopt;
}

static void printExport(const ExportReport &report, const ExportCommandOptions &options) {
  for (const std::string &note : report.notes)
    std::cerr << "meshplan-run: note: " + note + "\n" << std::flush;
  if (!options.json) {
    std::cout << options.output << ": " << report.tensors << " tensors of step " << report.step << ", from "
              << report.checkpoint << "\n";
    for (const std::string &file : report.files)
      std::cout << "wrote " << file << "\n";
    return;
  }
  nlohmann::json result = {{"checkpoint", report.checkpoint}, {"output", options.output}, {"step", report.step},
                           {"tensors", report.tensors},       {"files", report.files},    {"notes", report.notes}};
  // A file name need not be UTF-8, on which dump would throw.
  std::cout << result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

int meshplan::runExport(const ExportCommandOptions &options) {
  auto report = exportCheckpoint({.checkpoint = options.checkpoint,
                                  .output = options.output,
                                  .config = options.config,
                                  .weights = options.weights,
                                  .dtype = exportedDType(options.dtype),
                                  .adapters = options.adapters});
  if (!report)
    return reportError(report.status());
  printExport(*report, options);
  return 0;
}
