//===- trace.cpp - when each instruction ran ------------------------------===//

#include "runtime/exec/trace.h"

#include "runtime/base/file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace meshplan;

static double microseconds(Trace::Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

Status meshplan::writeTraces(const std::string &path, std::span<const Trace> traces) {
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
