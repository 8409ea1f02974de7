//===- event_file.cpp - TensorBoard event files ---------------------------===//

#include "runtime/train/event_file.h"

#include "runtime/data/block_checksums.h"

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <protozero/pbf_writer.hpp>
#include <unistd.h>

using namespace meshplan;

namespace {

using protozero::pbf_writer;

/// The CRC-32C of a part of a record, masked as the record format requires.
uint32_t maskedChecksum(std::string_view bytes) {
  // A checksum of bytes that contain checksums would be weak, hence the mask.
  return std::rotr(crc32cOf(std::as_bytes(std::span(bytes))), 15) + 0xa282ead8;
}

template <typename Number> std::string bytesOf(Number number) {
  return {reinterpret_cast<const char *>(&number), sizeof number};
}

double wallTime() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

/// Event { wall_time = 1, step = 2, file_version = 3, summary = 5 }, with one of the last two.
std::string event(int64_t step, int field, const std::string &content) {
  std::string record;
  pbf_writer event(record);
  event.add_double(1, wallTime());
  event.add_int64(2, step);
  event.add_bytes(field, content);
  return record;
}

/// Summary { value = 1 { tag = 1, simple_value = 2 } }
class Summary {
public:
  void add(const std::string &tag, double number) {
    pbf_writer value(writer, 1);
    value.add_string(1, tag);
    value.add_float(2, static_cast<float>(number));
  }
  std::string eventOf(int64_t step) const { return event(step, 5, text); }

private:
  std::string text;
  pbf_writer writer{text};
};

class EventFile final : public ReportSink {
public:
  EventFile(std::string path, std::ofstream file) : path(std::move(path)), file(std::move(file)) {}

  /// The first record that TensorBoard expects.
  Status begin() { return write(event(0, 3, "brain.Event:2")); }

  Status step(const StepReport &report) override {
    Summary summary;
    summary.add("train/loss", report.loss);
    summary.add("time/step_seconds", report.seconds);
    summary.add("time/data_seconds", report.dataSeconds);
    summary.add("memory/peak_bytes", static_cast<double>(report.peakBytes));
    for (const auto &[name, rate] : report.rates)
      summary.add("train/" + name, rate);
    for (const ExpertReport &layer : report.experts) {
      auto [least, most] = layer.extremes();
      summary.add("experts_least/" + layer.module, least);
      summary.add("experts_most/" + layer.module, most);
      summary.add("experts_dropped/" + layer.module, layer.droppedPart());
    }
    if (report.gradientNorm)
      summary.add("train/gradient_norm", *report.gradientNorm);
    if (report.lossScale)
      summary.add("train/loss_scale", *report.lossScale);
    if (report.exposedSeconds)
      summary.add("time/exposed_seconds", *report.exposedSeconds);
    if (report.tokens > 0)
      summary.add("time/tokens_per_second", static_cast<double>(report.tokens) / report.seconds);
    return write(summary.eventOf(report.step));
  }
  Status evaluation(const EvaluationReport &report) override {
    Summary summary;
    summary.add("evaluation/loss", report.loss);
    if (report.perplexity)
      summary.add("evaluation/perplexity", *report.perplexity);
    return write(summary.eventOf(report.step));
  }
  Status checkpoint(const CheckpointReport &) override { return Status(); }
  Status note(const std::string &) override { return Status(); }
  Status finish() override { return Status(); }

private:
  Status write(const std::string &record) {
    std::string length = bytesOf(static_cast<uint64_t>(record.size()));
    file << length << bytesOf(maskedChecksum(length)) << record << bytesOf(maskedChecksum(record)) << std::flush;
    return file ? Status() : Status::error(StatusCode::io, path, ": cannot be written: ", std::strerror(errno));
  }

  std::string path;
  std::ofstream file;
};

/// TensorBoard reads the files of a folder in the order of their names.
std::string nameOfFile() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  // The host and the process, because two runs may begin in the same millisecond.
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return "events.out.tfevents." + std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()) +
         "." + host.data() + "." + std::to_string(::getpid());
}

} // namespace

Expected<std::unique_ptr<ReportSink>> meshplan::openEventFile(const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return Status::error(StatusCode::io, folder, ": the folder cannot be made: ", error.message());
  std::string path = (std::filesystem::path(folder) / nameOfFile()).string();
  std::ofstream file(path, std::ios::binary);
  if (!file)
    return Status::error(StatusCode::io, path, ": cannot be written: ", std::strerror(errno));
  auto made = std::make_unique<EventFile>(path, std::move(file));
  MESHPLAN_RETURN_IF_ERROR(made->begin());
  return std::unique_ptr<ReportSink>(std::move(made));
}
