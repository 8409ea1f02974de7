//===- json_log.cpp - one line of JSON per step ---------------------------===//
//
// A run that continues from a checkpoint of step n writes to the log of the run before: lines up to step n stay, later
// ones describe steps that are run again, and a last line that a kill has cut is dropped.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/json_log.h"

#include "runtime/base/file.h"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace meshplan;

namespace {

using Json = nlohmann::ordered_json;

/// JSON has neither NaN nor infinity.
Json numberOf(double number) { return std::isfinite(number) ? Json(number) : Json(nullptr); }
Json numberOf(std::optional<double> number) { return number ? numberOf(*number) : Json(nullptr); }

double unixTime() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

Json jsonOf(const ExpertReport &layer) {
  return {{"module", layer.module}, {"tokens", layer.tokens}, {"dropped", layer.dropped}};
}

Json jsonOf(const StepReport &report) {
  Json rates = Json::object(), experts = Json::array();
  for (const auto &[name, rate] : report.rates)
    rates[name] = numberOf(rate);
  for (const ExpertReport &layer : report.experts)
    experts.push_back(jsonOf(layer));
  Json line{{"kind", "step"},
            {"step", report.step},
            {"loss", numberOf(report.loss)},
            {"gradient_norm", numberOf(report.gradientNorm)},
            {"learning_rates", rates},
            {"loss_scale", numberOf(report.lossScale)},
            {"nonfinite", report.nonfinite},
            {"samples", report.samples},
            {"tokens", report.tokens},
            {"seconds", report.seconds},
            {"data_seconds", report.dataSeconds},
            {"exposed_seconds", numberOf(report.exposedSeconds)},
            {"checkpoint_seconds", report.checkpointSeconds},
            {"peak_bytes", report.peakBytes}};
  if (!experts.empty())
    line["experts"] = experts;
  return line;
}

class JsonLog final : public ReportSink {
public:
  JsonLog(std::string path, std::ofstream file, int64_t steps)
      : path(std::move(path)), file(std::move(file)), lastStep(steps) {}

  Status step(const StepReport &report) override { return write(jsonOf(report)); }
  Status evaluation(const EvaluationReport &report) override {
    return write({{"kind", "evaluation"},
                  {"step", report.step},
                  {"loss", numberOf(report.loss)},
                  {"perplexity", numberOf(report.perplexity)},
                  {"batches", report.batches},
                  {"samples", report.samples},
                  {"seconds", report.seconds}});
  }
  Status checkpoint(const CheckpointReport &report) override {
    lastStep = report.step;
    return write({{"kind", "checkpoint"}, {"step", report.step}, {"path", report.path}});
  }
  Status note(const std::string &text) override {
    return write({{"kind", "note"}, {"step", lastStep}, {"text", text}});
  }
  Status finish() override { return Status(); }

private:
  Status write(Json line) {
    // Notes have no step of their own. With the one of the last step a resumed run keeps or drops them with that step.
    lastStep = std::max(lastStep, line["step"].get<int64_t>());
    line["time"] = unixTime();
    // dump would throw on paths that are not UTF-8.
    file << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
    return file ? Status() : Status::error(StatusCode::io, path, ": cannot be written: ", std::strerror(errno));
  }

  std::string path;
  std::ofstream file;
  int64_t lastStep; // last finished step
};

/// The lines of steps up to `steps`. Anything that is not a line of a log, such as a truncated one, is dropped.
std::string keptLines(std::istream &file, int64_t steps) {
  std::string kept;
  for (std::string line; std::getline(file, line);) {
    Json parsed = Json::parse(line, nullptr, false);
    if (parsed.is_object() && parsed.contains("step") && parsed["step"].is_number_integer() &&
        parsed["step"].get<int64_t>() <= steps)
      kept += line + "\n";
  }
  return kept;
}

} // namespace

Expected<std::unique_ptr<ReportSink>> meshplan::openJsonLog(const std::string &path, int64_t steps) {
  std::string kept;
  std::ifstream before(path);
  if (before && steps > 0)
    // Steps after the checkpoint are run again, so their old lines go.
    kept = keptLines(before, steps);
  else if (before && before.peek() != std::ifstream::traits_type::eof())
    return Status::error(StatusCode::invalid, "--log: '", path,
                         "' has lines of another run; help: name another file, or remove it");
  // Replaced atomically: if the process is killed here, the log of the earlier run is still complete.
  MESHPLAN_RETURN_IF_ERROR(writeFileAtomically(path, std::as_bytes(std::span(kept.data(), kept.size()))));
  std::ofstream file(path, std::ios::app);
  if (!file)
    return Status::error(StatusCode::io, path, ": cannot be written: ", std::strerror(errno));
  return std::unique_ptr<ReportSink>(std::make_unique<JsonLog>(path, std::move(file), steps));
}
