//===- trace.cpp - start and end of each instruction ----------------------===//

#include "runtime/exec/trace.h"

#include "runtime/base/file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace meshplan;

static double microseconds(Trace::Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

std::string Trace::text() const {
  nlohmann::json list = nlohmann::json::array();
  // The text is read by another rank, so an event has the ticks of this rank's clock; `shift` makes them comparable.
  for (const Event &event : events)
    list.push_back({event.name, event.begin.time_since_epoch().count(), event.end.time_since_epoch().count()});
  return list.dump();
}

Expected<Trace> Trace::fromText(const std::string &text) {
  nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  Trace trace;
  for (const nlohmann::json &event : list) {
    // The text comes from another rank.
    if (!event.is_array() || event.size() != 3 || !event[0].is_string() || !event[1].is_number_integer() ||
        !event[2].is_number_integer())
      return Status(StatusCode::invalid, "an element of the trace is not an event");
    auto time = [&](size_t i) { return Clock::time_point(Clock::duration(event[i].get<Clock::rep>())); };
    trace.add(event[0], time(1), time(2));
  }
  if (!list.is_array())
    return Status(StatusCode::invalid, "the trace is not a list");
  return trace;
}

void Trace::shift(Clock::duration difference) {
  for (Event &event : events) {
    event.begin += difference;
    event.end += difference;
  }
}

Status meshplan::writeTraces(const std::string &path, std::span<const Trace> traces) {
  // Times start at the first event of any rank.
  auto origin = Trace::Clock::time_point::max();
  for (const Trace &trace : traces)
    for (const Trace::Event &event : trace.events)
      origin = std::min(origin, event.begin);
  nlohmann::json events = nlohmann::json::array();
  for (size_t rank = 0; rank < traces.size(); ++rank) {
    events.push_back(
        {{"ph", "M"}, {"name", "process_name"}, {"pid", rank}, {"args", {{"name", "rank " + std::to_string(rank)}}}});
    for (const Trace::Event &event : traces[rank].events)
      events.push_back({{"ph", "X"},
                        {"name", event.name},
                        {"pid", rank},
                        {"tid", 0},
                        {"ts", microseconds(event.begin - origin)},
                        {"dur", microseconds(event.end - event.begin)}});
  }
  std::string text = nlohmann::json{{"traceEvents", std::move(events)}}.dump();
  return writeFileAtomically(path, std::as_bytes(std::span(text)));
}
