//===- dataset_feed.cpp - one rank's batches ------------------------------===//
//
// Two threads take turns; `isAtWork` says whose turn it is, and the lock is held only to change it.
//
//   the rank's thread                          the preparing thread
//   read(batch 0): reads the files itself      waits
//   advance: isAtWork = true            ---->  announces and reads the same requests of batch 1
//   step 0                                     isAtWork = false, waits
//   read(batch 1): waits if need be, copies
//   advance                             ---->  batch 2
//
//===----------------------------------------------------------------------===//

#include "runtime/dataset/dataset_feed.h"

#include "runtime/dataset/batch_reader.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

namespace meshplan {

namespace {

bool isSame(const FeedRequest &left, const FeedRequest &right) {
  return left.names == right.names && left.shape == right.shape && left.ranges == right.ranges &&
         left.dtype == right.dtype;
}

size_t bytesOf(const FeedRequest &request) {
  return elementCount(sliceShape(request.ranges)) * dtypeSize(request.dtype);
}

} // namespace

/// State shared by the rank's thread and the preparing thread. While `isAtWork`, reader and items belong to the latter.
class DatasetFeed::Preparation {
public:
  Preparation(std::shared_ptr<const Dataset> dataset, int64_t position)
      : dataset(std::move(dataset)), reader(*this->dataset), next(position),
        thread([this](const std::stop_token &stop) { work(stop); }) {}

  Status read(const FeedRequest &request, std::span<std::byte> out) {
    waitForThread();
    auto item = std::ranges::find_if(items, [&](const Item &each) { return isSame(each.request, request); });
    if (item == items.end()) {
      // Not prepared: in the first step, or not read in the previous step.
      items.push_back({request, std::vector<std::byte>(bytesOf(request))});
      item = std::prev(items.end());
      item->status = reader.read(next, item->request, item->bytes);
    } else if (!item->isReady) {
      item->status = reader.read(next, item->request, item->bytes);
    }
    item->isReady = item->isWanted = true;
    MESHPLAN_RETURN_IF_ERROR(item->status);
    if (out.size() != item->bytes.size())
      return Status::error(StatusCode::invalid, "input '", request.names.front(), "': a buffer of ", out.size(),
                           " bytes, ", item->bytes.size(), " required");
    std::memcpy(out.data(), item->bytes.data(), out.size());
    return Status();
  }

  void advance() {
    waitForThread();
    // A request that the step no longer makes must not be prepared forever.
    std::erase_if(items, [](const Item &item) { return !item.isWanted; });
    for (Item &item : items)
      item.isWanted = item.isReady = false;
    next += dataset->batch().samples;
    std::lock_guard lock(mutex);
    // Called after a batch was loaded: the thread prepares the next one while the step computes.
    isAtWork = true;
    changed.notify_all();
  }

  int64_t position() const { return next; }
  const Dataset &data() const { return *dataset; }

private:
  /// A request that the rank makes in each step. Its buffer is reused.
  struct Item {
    FeedRequest request;
    std::vector<std::byte> bytes;
    Status status;
    bool isReady = false;  // bytes and status are of this batch
    bool isWanted = false; // it was read in this step
  };

  void waitForThread() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !isAtWork; });
  }

  void work(const std::stop_token &stop) {
    std::unique_lock lock(mutex);
    while (changed.wait(lock, stop, [this] { return isAtWork; })) {
      // Files are read without the lock: isAtWork alone gives the items to this thread.
      lock.unlock();
      prepare(stop);
      lock.lock();
      isAtWork = false;
      changed.notify_all();
    }
  }

  void prepare(const std::stop_token &stop) {
    // The operating system reads all ranges ahead before the first of them is needed.
    for (const Item &item : items)
      reader.announce(next, item.request);
    for (Item &item : items) {
      item.status = reader.read(next, item.request, item.bytes, stop);
      item.isReady = true;
    }
  }

  std::shared_ptr<const Dataset> dataset;
  BatchReader reader;
  int64_t next; // changed by the rank's thread only, and not while isAtWork
  std::vector<Item> items;
  std::mutex mutex;
  std::condition_variable_any changed;
  bool isAtWork = false;
  std::jthread thread; // last member: it ends before the others are destroyed
};

DatasetFeed::DatasetFeed(std::shared_ptr<const Dataset> dataset, int64_t position)
    : preparation(std::make_unique<Preparation>(std::move(dataset), position)) {}

DatasetFeed::~DatasetFeed() = default;

Status DatasetFeed::read(const FeedRequest &request, std::span<std::byte> out) const {
  return preparation->read(request, out);
}

void DatasetFeed::advance() { preparation->advance(); }

const Dataset &DatasetFeed::dataset() const { return preparation->data(); }

int64_t DatasetFeed::position() const { return preparation->position(); }

} // namespace meshplan
