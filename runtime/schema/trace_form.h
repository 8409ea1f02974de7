//===- trace_form.h - the form of traces ------------------------*- C++ -*-===//
//
// `meshplan simulate` writes the estimated timeline of a step and `meshplan-run --trace` the measured one, both in the
// form of this header (docs/traces.md): Chrome's trace events, a process for each rank and a track for each lane.
// tools/compare_traces.py reads it.
//
// Header only, standard library only, no state.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_TRACE_FORM_H
#define MESHPLAN_RUNTIME_SCHEMA_TRACE_FORM_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace meshplan::trace_form {

/// The track of operators and of the time in which they wait for collectives.
inline constexpr std::string_view computeLane = "compute";

/// The track of the collectives of a communicator: "over dp".
inline std::string laneOfCommunicator(std::string_view communicator) { return "over " + std::string(communicator); }

/// The track of copies into one memory: "copies to the host".
inline std::string laneOfCopies(std::string_view memory) { return "copies to the " + std::string(memory); }

/// The memories that a copy may fill; the second one is the host's.
inline constexpr std::array<std::string_view, 2> memories = {"device", "host"};

/// Names of `base.direction` and `base.purpose`, and of the enums of the artifact, by number.
inline constexpr std::array<std::string_view, 3> directions = {"forward", "backward", "update"};
inline constexpr std::array<std::string_view, 4> purposes = {"activations", "parameters", "gradients", "optimizer"};

/// What is known about an operation. Texts are empty, and `bytes` 0, where they do not apply.
struct Label {
  std::string what;         ///< "aten.mm.default", "all_gather", "pack"
  std::string module;       ///< whose operator it is, or whose tensors it moves: "model.layers.3.mlp.up_proj"
  std::string direction;    ///< one of `directions`
  std::string purpose;      ///< of a collective: one of `purposes`
  std::string communicator; ///< of a collective: "dp"
  int64_t bytes = 0;        ///< of a collective: sent by the rank that sends most
  std::string memory;       ///< of a copy between device and host: the one of `memories` that it fills
  std::string statement;    ///< of the plan: "p.plan:12:5 data dp"
  std::string program;      ///< "step"
  bool isWait = false;      ///< the compute lane waits for this operation; the event is on the compute lane

  bool operator==(const Label &) const = default;
};

/// An operation that a rank runs. Times are in nanoseconds after the beginning of the trace.
struct Event {
  const Label *label = nullptr;
  int64_t microbatch = 0;
  int64_t begin = 0, end = 0;
};

/// The name of an event: "aten.mm.default in model.layers.3.mlp.up_proj", "all_gather over dp in model.layers.3",
/// "wait for all_gather over dp in model.layers.3", "copy to the host in model.layers.3". Operations of one name are
/// distinguished by their order.
inline std::string nameOf(const Label &label) {
  std::string name = (label.isWait ? "wait for " : "") + label.what;
  if (!label.communicator.empty())
    name += " over " + label.communicator;
  if (!label.memory.empty())
    name += " to the " + label.memory;
  return label.module.empty() ? name : name + " in " + label.module;
}

/// The part of a module path up to its first number: "model.layers.3" of "model.layers.3.mlp"; else empty.
inline std::string layerOf(std::string_view module) {
  for (size_t begin = 0; begin < module.size();) {
    size_t end = std::min(module.find('.', begin), module.size());
    std::string_view component = module.substr(begin, end - begin);
    if (!component.empty() && component.find_first_not_of("0123456789") == std::string_view::npos)
      return std::string(module.substr(0, end));
    begin = end + 1;
  }
  return "";
}

/// The track of an event.
inline std::string laneOf(const Label &label) {
  if (label.isWait)
    return std::string(computeLane);
  if (!label.memory.empty())
    return laneOfCopies(label.memory);
  return label.communicator.empty() ? std::string(computeLane) : laneOfCommunicator(label.communicator);
}

/// The category of an event, by which a viewer can show or hide it.
inline std::string_view categoryOf(const Label &label) {
  if (label.isWait)
    return "exposed";
  if (!label.memory.empty())
    return "copy";
  return label.communicator.empty() ? "compute" : "communication";
}

namespace detail {

inline std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(c));
      result += escaped.data();
      continue;
    }
    result += c;
  }
  return result + '"';
}

/// Microseconds, exactly: "12.345".
inline std::string microseconds(int64_t nanoseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%lld.%03lld", static_cast<long long>(nanoseconds / 1000),
                static_cast<long long>(nanoseconds % 1000));
  return text.data();
}

inline std::string metadata(std::string_view what, int64_t rank, size_t track, std::string_view name) {
  return R"({"ph":"M","name":)" + quoted(what) + ",\"pid\":" + std::to_string(rank) +
         ",\"tid\":" + std::to_string(track) + R"(,"args":{"name":)" + quoted(name) + "}}";
}

inline std::string arguments(const Event &event) {
  const Label &label = *event.label;
  std::string text;
  auto add = [&](std::string_view key, std::string_view value) {
    if (!value.empty())
      text += (text.empty() ? "" : ",") + quoted(key) + ":" + quoted(value);
  };
  add("module", label.module);
  add("layer", layerOf(label.module));
  add("direction", label.direction);
  add("purpose", label.purpose);
  add("axes", label.communicator);
  add("memory", label.memory);
  add("plan", label.statement);
  add("program", label.program);
  if (label.bytes > 0)
    text += (text.empty() ? "" : ",") + ("\"bytes\":" + std::to_string(label.bytes));
  return text + (text.empty() ? "" : ",") + "\"microbatch\":" + std::to_string(event.microbatch);
}

} // namespace detail

/// What the whole trace is about.
struct Header {
  bool isEstimated = false;
  std::string machine; ///< that times are estimated for; empty if they are measured
};

/// The text of a trace: `ranks` has the events of ranks 0, 1, ... A `\n` follows each event, so that large files can be
/// read by line.
inline std::string textOf(const Header &header, std::span<const std::vector<Event>> ranks) {
  std::string text = R"({"displayTimeUnit":"ms","otherData":{"form":"1","times":")";
  text += header.isEstimated ? "estimated" : "measured";
  text += header.machine.empty() ? "\"" : R"(","machine":)" + detail::quoted(header.machine);
  text += "},\"traceEvents\":[";
  bool isFirst = true;
  auto add = [&](const std::string &event) {
    text += isFirst ? "\n" : ",\n";
    text += event;
    isFirst = false;
  };
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    auto pid = static_cast<int64_t>(rank);
    add(detail::metadata("process_name", pid, 0, "rank " + std::to_string(rank)));
    std::vector<std::string> lanes{std::string(computeLane)};
    for (const Event &event : ranks[rank])
      if (std::string lane = laneOf(*event.label); std::ranges::find(lanes, lane) == lanes.end())
        lanes.push_back(std::move(lane));
    std::sort(lanes.begin() + 1, lanes.end());
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      add(detail::metadata("thread_name", pid, lane, lanes[lane]));
    for (const Event &event : ranks[rank]) {
      auto lane = static_cast<size_t>(std::ranges::find(lanes, laneOf(*event.label)) - lanes.begin());
      add(R"({"ph":"X","name":)" + detail::quoted(nameOf(*event.label)) + R"(,"cat":")" +
          std::string(categoryOf(*event.label)) + R"(","pid":)" + std::to_string(rank) +
          ",\"tid\":" + std::to_string(lane) + ",\"ts\":" + detail::microseconds(event.begin) + ",\"dur\":" +
          detail::microseconds(event.end - event.begin) + ",\"args\":{" + detail::arguments(event) + "}}");
    }
  }
  return text + "\n]}\n";
}

} // namespace meshplan::trace_form

#endif // MESHPLAN_RUNTIME_SCHEMA_TRACE_FORM_H
