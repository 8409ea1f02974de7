//===- zip_mutator.cpp - another zip file of the same kind ----------------===//

#include "test/fuzz/zip_mutator.h"

#include "runtime/data/zip_file.h"
#include "test/fuzz/json_mutator.h"

#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <zlib.h>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace meshplan::fuzz {

namespace {

struct Member {
  std::string name, content;
  bool deflated = false;
};

template <typename Number> void append(std::string &out, Number number) {
  out.append(reinterpret_cast<const char *>(&number), sizeof(number));
}

std::optional<std::vector<Member>> readMembers(std::span<const std::byte> file) {
  Expected<std::vector<ZipEntry>> entries = readZipDirectory(file);
  if (!entries || entries->empty())
    return std::nullopt;
  std::vector<Member> members;
  for (const ZipEntry &entry : *entries) {
    Expected<std::vector<std::byte>> content = unpack(entry);
    if (!content)
      return std::nullopt;
    members.push_back({entry.name, {reinterpret_cast<const char *>(content->data()), content->size()}, entry.deflated});
  }
  return members;
}

std::string deflated(const std::string &content) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// The fields that a member's header and its directory entry share: PKWARE APPNOTE.TXT 4.3.7 and 4.3.12.
std::string commonFields(const Member &member, size_t packedSize) {
  std::string fields;
  append<uint16_t>(fields, 20);                               // version needed
  append<uint16_t>(fields, 0);                                // flags
  append<uint16_t>(fields, member.deflated ? Z_DEFLATED : 0); // method
  append<uint32_t>(fields, uint32_t(0x21) << 16);             // 1 January 1980
  append<uint32_t>(fields, crc32_z(0, reinterpret_cast<const Bytef *>(member.content.data()), member.content.size()));
  append<uint32_t>(fields, packedSize);
  append<uint32_t>(fields, member.content.size());
  append<uint16_t>(fields, member.name.size());
  append<uint16_t>(fields, 0); // extra field
  return fields;
}

std::string writeMembers(const std::vector<Member> &members) {
  std::string file, directory;
  for (const Member &member : members) {
    std::string packed = member.deflated ? deflated(member.content) : member.content;
    std::string fields = commonFields(member, packed.size());
    append<uint32_t>(directory, 0x02014b50);
    append<uint16_t>(directory, 20); // version made by
    directory += fields;
    directory.append(10, '\0'); // comment, disk, attributes
    append<uint32_t>(directory, file.size());
    directory += member.name;
    append<uint32_t>(file, 0x04034b50);
    file += fields + member.name + packed;
  }
  size_t begin = file.size();
  file += directory;
  append<uint32_t>(file, 0x06054b50);
  append<uint32_t>(file, 0); // disks
  append<uint16_t>(file, members.size());
  append<uint16_t>(file, members.size());
  append<uint32_t>(file, directory.size());
  append<uint32_t>(file, begin);
  append<uint16_t>(file, 0); // comment
  return file;
}

void mutateMember(std::vector<Member> &members, std::mt19937 &random) {
  size_t index = random() % members.size();
  Member &member = members[index];
  switch (random() % 32) {
  case 0:
    member.deflated = !member.deflated;
    break;
  case 1:
    members.erase(members.begin() + static_cast<ptrdiff_t>(index));
    break;
  case 2:
    std::swap(member.name, members[random() % members.size()].name);
    break;
  default:
    member.content = mutateJson(member.content, random());
  }
}

} // namespace

size_t mutateZip(uint8_t *data, size_t size, size_t maxSize, unsigned int seed) {
  std::mt19937 random(seed);
  std::optional<std::vector<Member>> members;
  if (random() % 16 != 0)
    members = readMembers({reinterpret_cast<const std::byte *>(data), size});
  if (!members)
    return LLVMFuzzerMutate(data, size, maxSize);
  mutateMember(*members, random);
  std::string file = writeMembers(*members);
  if (file.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, file.data(), file.size());
  return file.size();
}

} // namespace meshplan::fuzz
