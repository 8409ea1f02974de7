//===- gather.cpp - texts to and from rank 0 ------------------------------===//

#include "runtime/comm/gather.h"

using namespace meshplan;

Expected<std::vector<std::string>> meshplan::gatherAtFirst(World &world, const std::string &text) {
  const CollectiveLabel label{.sequence = -1, .origin = "gathering the reports of the ranks"};
  MESHPLAN_ASSIGN_OR_RETURN(auto group, world.host().createWorldGroup("world"));
  int64_t size = static_cast<int64_t>(text.size());
  // A receive needs the size beforehand, hence the all-gather of numbers.
  std::vector<int64_t> sizes(world.size());
  MESHPLAN_RETURN_IF_ERROR(waitFor(group->startAllGather(&size, sizes.data(), 1, DType::i64, label)));
  std::vector<std::string> texts;
  if (world.rank() != 0) {
    MESHPLAN_RETURN_IF_ERROR(waitFor(group->startSend(text.data(), size, DType::u8, 0, label)));
    return texts;
  }
  texts.push_back(text);
  // Texts differ in size, and only rank 0 needs them: sends are cheaper than padding an all-gather.
  for (int64_t rank = 1; rank < world.size(); ++rank) {
    texts.emplace_back(static_cast<size_t>(sizes[rank]), '\0');
    MESHPLAN_RETURN_IF_ERROR(waitFor(group->startReceive(texts.back().data(), sizes[rank], DType::u8, rank, label)));
  }
  return texts;
}

Status meshplan::shareFromFirst(World &world, std::string &text, const std::string &what) {
  const CollectiveLabel label{.sequence = -1, .origin = what};
  MESHPLAN_ASSIGN_OR_RETURN(auto group, world.host().createWorldGroup("world"));
  int64_t size = static_cast<int64_t>(text.size());
  MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBroadcast(&size, 1, DType::i64, 0, label)));
  text.resize(static_cast<size_t>(size));
  return waitFor(group->startBroadcast(text.data(), size, DType::u8, 0, label));
}
