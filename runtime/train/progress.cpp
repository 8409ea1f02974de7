//===- progress.cpp - progress on the terminal ----------------------------===//
//
// On a terminal the line of the last step is overwritten; in a file each line stays, so that at most one a second is
// written. Times of the first step are not part of the estimate of what is left.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/progress.h"

#include "runtime/base/format.h"

#include <algorithm>
#include <chrono>
#include <cmath>

using namespace meshplan;

std::string meshplan::durationText(double seconds) {
  if (seconds < 0.1)
    return fmt::format("{:.1f} ms", 1e3 * seconds);
  if (seconds < 10)
    return fmt::format("{:.2f} s", seconds);
  long long whole = std::llround(seconds);
  if (whole < 60)
    return fmt::format("{} s", whole);
  if (whole < 3600)
    return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string meshplan::rateText(double perSecond) {
  // About three significant digits: more would change with every step and hide a real change.
  if (perSecond < 100)
    return fmt::format("{:.{}f}", perSecond, perSecond < 10 ? 2 : 1);
  std::string digits = fmt::format("{:.0f}", perSecond);
  for (auto position = static_cast<ptrdiff_t>(digits.size()) - 3; position > 0; position -= 3)
    digits.insert(position, ",");
  return digits;
}

std::string meshplan::bytesText(int64_t bytes) {
  auto number = static_cast<double>(bytes);
  if (bytes >= int64_t(1) << 30)
    return fmt::format("{:.2f} GiB", number / (int64_t(1) << 30));
  if (bytes >= 1 << 20)
    return fmt::format("{:.0f} MiB", number / (1 << 20));
  return fmt::format("{:.0f} KiB", number / (1 << 10));
}

std::string meshplan::evaluationText(const EvaluationReport &report) {
  std::string samples = std::to_string(report.samples);
  if (report.samplesThere > report.samples)
    samples += " of " + std::to_string(report.samplesThere);
  std::string perplexity = report.perplexity ? fmt::format("  perplexity {:.2f}", *report.perplexity) : "";
  return fmt::format("loss {:.4f}{}  ({} samples, {}){}{}", report.loss, perplexity, samples,
                     durationText(report.seconds), report.reason.empty() ? "" : "; ", report.reason);
}

/// "  experts 0.42 to 1.87": tokens of the least and of the most chosen expert of any layer, relative to the mean of
/// its layer; with "dropped 1.3 %" of all pairs of a token and an expert, if there are any.
static std::string expertsText(const std::vector<ExpertReport> &layers) {
  if (layers.empty())
    return "";
  auto [least, most] = layers.front().extremes();
  double dropped = 0;
  for (const ExpertReport &layer : layers) {
    auto [low, high] = layer.extremes();
    least = std::min(least, low);
    most = std::max(most, high);
    dropped += layer.droppedPart() / static_cast<double>(layers.size());
  }
  return fmt::format("  experts {:.2f} to {:.2f}", least, most) +
         (dropped > 0 ? fmt::format("  dropped {:.2g} %", 100 * dropped) : "");
}

namespace {

using Clock = std::chrono::steady_clock;

class Progress final : public ReportSink {
public:
  Progress(std::ostream &out, bool isTerminal) : out(out), isTerminal(isTerminal) {}

  Status step(const StepReport &report) override {
    // The first step warms up, so it does not predict the time of later ones.
    if (stepsSeen++ > 0)
      secondsSeen += report.seconds;
    bool isLast = report.step == report.lastStep, isDue = Clock::now() >= next;
    // A log file should stay readable for runs with thousands of fast steps.
    if (!isTerminal && stepsSeen > 1 && !isLast && !isDue)
      return Status();
    next = Clock::now() + std::chrono::seconds(1);
    std::string line = lineOf(report);
    // Overwrite the rest of a longer previous line.
    size_t length = line.size();
    if (isTerminal && length < lineLength)
      line.append(lineLength - length, ' ');
    lineLength = length;
    out << (isTerminal ? "\r" : "") << line << (isTerminal && !isLast ? "" : "\n") << std::flush;
    isOpen = isTerminal && !isLast;
    return Status();
  }

  Status evaluation(const EvaluationReport &report) override {
    return say("evaluation after step " + std::to_string(report.step) + ": " + evaluationText(report));
  }
  Status checkpoint(const CheckpointReport &report) override { return say("saved " + report.path); }
  Status note(const std::string &text) override { return say(text); }
  Status finish() override {
    if (isOpen)
      out << "\n" << std::flush;
    isOpen = false;
    return Status();
  }

private:
  /// Writes a line of its own; the next step starts a new line.
  Status say(const std::string &text) {
    MESHPLAN_RETURN_IF_ERROR(finish());
    out << text << "\n" << std::flush;
    lineLength = 0;
    return Status();
  }

  std::string lineOf(const StepReport &report) const {
    std::string line = fmt::format("step {}/{}  loss {:.4f}", report.step, report.lastStep, report.loss);
    if (!report.rates.empty())
      line += fmt::format("  lr {:.2e}", report.rates.front().second);
    if (report.gradientNorm)
      line += fmt::format("  norm {:.3g}", *report.gradientNorm);
    if (report.nonfinite > 0)
      line += fmt::format("  skipped: {} elements of the gradients are not finite", report.nonfinite);
    line += expertsText(report.experts);
    bool hasTokens = report.tokens > 0;
    // Tokens where the data has them, since samples of different lengths are not comparable.
    line += "  " + rateText(static_cast<double>(hasTokens ? report.tokens : report.samples) / report.seconds) +
            (hasTokens ? " tokens/s" : " samples/s") + "  step " + durationText(report.seconds);
    if (report.exposedSeconds)
      line += "  waiting " + durationText(*report.exposedSeconds);
    line += "  peak " + bytesText(report.peakBytes);
    if (stepsSeen > 1 && report.step < report.lastStep)
      // The mean of all steps so far, without the first, predicts better than the last step alone.
      line += "  left " + durationText(secondsSeen / (stepsSeen - 1) * (report.lastStep - report.step));
    return line;
  }

  std::ostream &out;
  bool isTerminal;
  int64_t stepsSeen = 0;
  double secondsSeen = 0;
  size_t lineLength = 0;
  bool isOpen = false; // the line of the steps has no newline yet
  Clock::time_point next;
};

} // namespace

std::unique_ptr<ReportSink> meshplan::makeProgress(std::ostream &out, bool isTerminal) {
  return std::make_unique<Progress>(out, isTerminal);
}
