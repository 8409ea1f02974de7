//===- event_file.cpp - TensorBoard event files ---------------------------===//

#include "runtime/train/event_file.h"

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace meshplan;

namespace {

constexpr std::array<uint32_t, 256> makeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit)
      rest = (rest >> 1) ^ (rest & 1 ? 0x82f63b78 : 0);
    table[byte] = rest;
  }
  return table;
}

/// CRC-32C (Castagnoli), masked as the record format requires.
uint32_t maskedChecksum(std::string_view bytes) {
  static constexpr auto table = makeTable();
  uint32_t checksum = ~0u;
  for (unsigned char byte : bytes)
    checksum = table[(checksum ^ byte) & 0xff] ^ (checksum >> 8);
  return std::rotr(~checksum, 15) + 0xa282ead8;
}

template <typename Number> std::string bytesOf(Number number) {
  return {reinterpret_cast<const char *>(&number), sizeof number};
}

std::string varint(uint64_t number) {
  std::string bytes;
  for (; number >= 128; number >>= 7)
    // Seven bits per byte, the lowest first; the top bit says that more bytes follow.
    bytes += static_cast<char>(number | 128);
  return bytes + static_cast<char>(number);
}

/// Wire types of protocol buffers: 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes.
std::string key(int field, int wireType) { return varint(field << 3 | wireType); }
std::string text(int field, std::string_view bytes) { return key(field, 2) + varint(bytes.size()).append(bytes); }

double wallTime() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

/// Event { wall_time = 1, step = 2, file_version = 3, summary = 5 }
std::string event(int64_t step, const std::string &content) {
  return key(1, 1) + bytesOf(wallTime()) + key(2, 0) + varint(static_cast<uint64_t>(step)) + content;
}

/// Summary { value = 1 { tag = 1, simple_value = 2 } }
std::string scalar(std::string_view tag, double number) {
  return text(1, text(1, tag) + key(2, 5) + bytesOf(static_cast<float>(number)));
}

class EventFile final : public ReportSink {
public:
  EventFile(std::string path, std::ofstream file) : path(std::move(path)), file(std::move(file)) {}

  /// The first record that TensorBoard expects.
  Status begin() { return write(event(0, text(3, "brain.Event:2"))); }

  Status step(const StepReport &report) override {
    std::string values = scalar("train/loss", report.loss) + scalar("time/step_seconds", report.seconds) +
                         scalar("time/data_seconds", report.dataSeconds) +
                         scalar("memory/peak_bytes", static_cast<double>(report.peakBytes));
    for (const auto &[name, rate] : report.rates)
      values += scalar("train/" + name, rate);
    if (report.gradientNorm)
      values += scalar("train/gradient_norm", *report.gradientNorm);
    if (report.lossScale)
      values += scalar("train/loss_scale", *report.lossScale);
    if (report.exposedSeconds)
      values += scalar("time/exposed_seconds", *report.exposedSeconds);
    if (report.tokens > 0)
      values += scalar("time/tokens_per_second", static_cast<double>(report.tokens) / report.seconds);
    return write(event(report.step, text(5, values)));
  }
  Status evaluation(const EvaluationReport &report) override {
    std::string values = scalar("evaluation/loss", report.loss);
    if (report.perplexity)
      values += scalar("evaluation/perplexity", *report.perplexity);
    return write(event(report.step, text(5, values)));
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
  // TensorBoard reads the files of a folder in the order of their names, so the time comes first.
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
