//===- failure_report.cpp - the report of a failed run --------------------===//

#include "runtime/train/failure_report.h"

#include "runtime/base/file.h"

#include <filesystem>
#include <nlohmann/json.hpp>

using namespace meshplan;

using Json = nlohmann::ordered_json;

/// Seconds between `moment` and now.
static double ago(CollectiveLog::Clock::time_point moment) {
  return std::chrono::duration<double>(CollectiveLog::Clock::now() - moment).count();
}

static Json jsonOf(const CollectiveLog::Entry &entry) {
  Json json = {{"number", entry.number},
               {"step", entry.step},
               {"collective", entry.what},
               {"bytes", entry.bytes},
               {"started_seconds_ago", ago(entry.started)}};
  json["seconds"] = entry.ended ? Json(std::chrono::duration<double>(*entry.ended - entry.started).count()) : Json();
  // An entry without end is what a reader of a hang looks for.
  json["outcome"] = entry.ended ? Json(std::string(statusCodeName(entry.outcome))) : Json("not waited for");
  return json;
}

static Json entriesOf(CollectiveLog &log) {
  Json entries = Json::array();
  for (const CollectiveLog::Entry &entry : log.entries())
    entries.push_back(jsonOf(entry));
  return entries;
}

std::string meshplan::collectivesPath(const std::string &folder, int64_t rank) {
  return (std::filesystem::path(folder) / ("collectives-rank" + std::to_string(rank) + ".json")).string();
}

Status meshplan::writeCollectives(World &world, const Status &failure, const std::string &folder) {
  // A rank writes its own file: the ranks may be on several machines, and cannot talk to each other any more.
  Json json = {{"rank", world.rank()}, {"ranks", world.size()}, {"failure", failure.message()}};
  json["collectives"] = entriesOf(world.log());
  // A world for device buffers has a separate log for its host collectives.
  if (&world.host() != &world)
    json["between_hosts"] = entriesOf(world.host().log());
  std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return writeFileAtomically(collectivesPath(folder, world.rank()), std::as_bytes(std::span(text.data(), text.size())));
}
