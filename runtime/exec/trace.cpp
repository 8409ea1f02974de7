//===- trace.cpp - when each instruction ran ------------------------------===//

#include "runtime/exec/trace.h"

#include "runtime/base/file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace meshplan;
using trace_form::Label;

std::string Trace::text() const {
  nlohmann::json list = nlohmann::json::array();
  // The text is read by another rank, so an event has the ticks of this rank's clock; `shift` makes them comparable.
  for (const Event &event : events) {
    const Label &label = event.label;
    list.push_back({label.what, label.module, label.direction, label.purpose, label.communicator, label.memory,
                    label.statement, label.program, label.bytes, label.isWait ? 1 : 0, event.microbatch,
                    event.begin.time_since_epoch().count(), event.end.time_since_epoch().count()});
  }
  return list.dump();
}

/// True if an element is what `Trace::text` writes for an event. The text comes from another rank.
static bool isEvent(const nlohmann::json &element) {
  constexpr size_t texts = 8, numbers = 5;
  if (!element.is_array() || element.size() != texts + numbers)
    return false;
  for (size_t i = 0; i < texts + numbers; ++i)
    if (i < texts ? !element[i].is_string() : !element[i].is_number_integer())
      return false;
  return true;
}

Expected<Trace> Trace::fromText(const std::string &text) {
  nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array())
    return Status(StatusCode::invalid, "the trace is not a list");
  Trace trace;
  for (const nlohmann::json &event : list) {
    if (!isEvent(event))
      return Status(StatusCode::invalid, "an element of the trace is not an event");
    auto time = [&](size_t i) { return Clock::time_point(Clock::duration(event[i].get<Clock::rep>())); };
    Label label{.what = event[0],
                .module = event[1],
                .direction = event[2],
                .purpose = event[3],
                .communicator = event[4],
                .bytes = event[8],
                .memory = event[5],
                .statement = event[6],
                .program = event[7],
                .isWait = event[9] != 0};
    trace.add(std::move(label), event[10], time(11), time(12));
  }
  return trace;
}

void Trace::shift(Clock::duration difference) {
  for (Event &event : events) {
    event.begin += difference;
    event.end += difference;
  }
}

Status meshplan::writeTraces(const std::string &path, std::span<const Trace> traces) {
  auto origin = Trace::Clock::time_point::max();
  for (const Trace &trace : traces)
    for (const Trace::Event &event : trace.events)
      origin = std::min(origin, event.begin);
  auto nanoseconds = [&](Trace::Clock::time_point time) -> int64_t {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time - origin).count();
  };
  std::vector<std::vector<trace_form::Event>> ranks;
  for (const Trace &trace : traces) {
    std::vector<trace_form::Event> &events = ranks.emplace_back();
    for (const Trace::Event &event : trace.events)
      events.push_back({&event.label, event.microbatch, nanoseconds(event.begin), nanoseconds(event.end)});
  }
  std::string text = trace_form::textOf({}, ranks);
  return writeFileAtomically(path, std::as_bytes(std::span(text)));
}
