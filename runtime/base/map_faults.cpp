//===- map_faults.cpp - read errors of mapped files -----------------------===//

#include "runtime/base/map_faults.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace meshplan {

namespace {

struct Slot {
  std::atomic<uintptr_t> begin = 0, end = 0; // 0: the slot is free
  std::atomic<bool> failed = false;
};

// A signal handler may only use static storage and lock-free atomics.
std::array<Slot, 4096> slots;
std::atomic<uintptr_t> pageSize = 4096;
static_assert(std::atomic<uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

/// The file that the map of a slot belongs to.
struct MappedPath {
  std::string path;
  dev_t device = 0;
  ino_t node = 0;
};

std::mutex pathsMutex;
std::array<MappedPath, 4096> paths;
size_t slotsUsed = 0; // later slots have never been used

/// Replaces the unreadable page by a page of zeros, so that the read continues. The failure is reported later
/// (checkMapFaults).
void replacePage(int signal, siginfo_t *info, void *) {
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Slot &slot : slots) {
    if (address < slot.begin || address >= slot.end)
      continue;
    uintptr_t page = address & ~(pageSize - 1);
    // mmap is not among the calls that POSIX allows in a handler, but on Linux it is a plain system call.
    void *made =
        ::mmap(reinterpret_cast<void *>(page), pageSize, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (made == MAP_FAILED)
      break;
    slot.failed = true;
    return;
  }
  // Not a listed map: with the default handler, repeating the instruction ends the process.
  ::signal(signal, SIG_DFL);
}

} // namespace

void catchMapFaults() {
  pageSize = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction handler = {};
  handler.sa_sigaction = replacePage;
  handler.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &handler, nullptr);
}

/// True if the file on disk is now shorter than the map. The caller holds the lock.
static bool isShorter(size_t slot) {
  struct stat info;
  uintptr_t begin = slots[slot].begin, end = slots[slot].end;
  if (begin == end || ::stat(paths[slot].path.c_str(), &info) != 0)
    return false;
  bool isSame = info.st_dev == paths[slot].device && info.st_ino == paths[slot].node;
  return isSame && static_cast<uintptr_t>(info.st_size) < end - begin;
}

Status checkMapFaults() {
  std::lock_guard lock(pathsMutex);
  for (size_t slot = 0; slot < slotsUsed; ++slot)
    if (slots[slot].failed || isShorter(slot))
      return Status::error(StatusCode::io, "cannot read '", paths[slot].path,
                           "': it was truncated since it was opened, or its disk fails");
  return Status();
}

ListedMap::ListedMap(const std::string &path, std::span<const std::byte> bytes) {
  std::lock_guard lock(pathsMutex);
  auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  for (slot = 0; slot < slots.size() && !isListed; ++slot)
    if (slots[slot].begin == 0) {
      struct stat info = {};
      (void)::stat(path.c_str(), &info);
      paths[slot] = {path, info.st_dev, info.st_ino};
      slotsUsed = std::max(slotsUsed, slot + 1);
      // The handler may run at any time, so the range is published last and withdrawn first (see the destructor).
      slots[slot].failed = false;
      slots[slot].begin = begin;
      // The end of the file need not be a page boundary; the rest of its last page is readable too.
      slots[slot].end = begin + bytes.size();
      isListed = true;
      break;
    }
}

ListedMap::ListedMap(ListedMap &&other) noexcept : slot(other.slot), isListed(std::exchange(other.isListed, false)) {}

ListedMap &ListedMap::operator=(ListedMap &&other) noexcept {
  std::swap(slot, other.slot);
  std::swap(isListed, other.isListed);
  return *this;
}

ListedMap::~ListedMap() {
  if (!isListed)
    return;
  std::lock_guard lock(pathsMutex);
  slots[slot].end = 0;
  slots[slot].begin = 0;
}

} // namespace meshplan
