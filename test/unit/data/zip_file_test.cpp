//===- zip_file_test.cpp --------------------------------------------------===//

#include "runtime/data/zip_file.h"

#include "test/unit/data/helpers.h"
#include "test/unit/data/zip_text.h"

#include <random>

namespace meshplan {
namespace {

Expected<std::vector<ZipEntry>> read(const std::string &text) {
  return readZipDirectory(std::as_bytes(std::span(text)));
}

/// The unpacked content of an entry.
std::string contentOf(const ZipEntry &entry) {
  Expected<std::vector<std::byte>> content = unpack(entry);
  EXPECT_TRUE(content.ok()) << content.status().message();
  return content ? std::string(reinterpret_cast<const char *>(content->data()), content->size()) : "";
}

TEST(ZipFile, ReadsOrdinaryAndZip64Directories) {
  for (bool wide : {false, true}) {
    ZipText zip;
    zip.add("m/a", "first", 0, wide);
    zip.add("m/b", "", 0, wide);
    std::string text = zip.text(wide);
    EXPECT_TRUE(isZipFile(std::as_bytes(std::span(text))));
    Expected<std::vector<ZipEntry>> entries = read(text);
    ASSERT_TRUE(entries.ok()) << entries.status().message();
    ASSERT_EQ(entries->size(), 2u);
    EXPECT_EQ((*entries)[0].name, "m/a");
    EXPECT_EQ(contentOf((*entries)[0]), "first");
    EXPECT_EQ(contentOf((*entries)[1]), "");
  }
}

TEST(ZipFile, RefusesUnknownMethods) {
  ZipText zip;
  zip.add("m/a", "first", 12);
  EXPECT_EQ(read(zip.text()).status().message(), "entry 'm/a' is encrypted or packed with method 12");
}

TEST(ZipFile, RefusesWhatIsNoDirectory) {
  EXPECT_EQ(read(std::string(100000, 'x')).status().message(),
            "damaged or truncated zip file: its directory is missing or wrong");
}

TEST(ZipFile, AnImpossibleSizeIsNotAllocated) {
  std::string data = "xx";
  ZipEntry entry{
      .name = "a", .deflated = true, .checksum = 0, .size = uint64_t(1) << 60, .data = std::as_bytes(std::span(data))};
  EXPECT_EQ(unpack(entry).status().message(), "damaged or truncated zip file: entry 'a': it states an impossible size");
  entry.size = 10;
  EXPECT_EQ(unpack(entry).status().message(), "damaged or truncated zip file: entry 'a': it cannot be unpacked");
}

/// A zip file in which bytes of the directory or of the end record will be replaced.
class ZipDamage : public testing::Test {
protected:
  ZipDamage() {
    zip.add("m/a", "first");
    zip.add("m/b", "second");
  }

  /// The offset of the first entry's record, and of the end record.
  size_t entry() const { return zip.files.size(); }
  size_t end(const std::string &text) const { return text.size() - std::string("comment").size() - 22; }

  /// The error after bytes of a text are replaced by a number.
  static std::string faultAt(std::string text, size_t offset, uint64_t number, size_t bytes) {
    std::string replacement;
    append(replacement, number, bytes);
    return fault(text.replace(offset, bytes, replacement));
  }
  static std::string fault(const std::string &text) {
    std::string message = read(text).status().message();
    const std::string damaged = "damaged or truncated zip file: ";
    return message.rfind(damaged, 0) == 0 ? message.substr(damaged.size()) : message;
  }

  ZipText zip;
};

constexpr const char *noDirectory = "its directory is missing or wrong";

TEST_F(ZipDamage, TheEndRecordIsFoundByItsComment) {
  const std::string text = zip.text();
  EXPECT_EQ(fault(text), "");
  EXPECT_EQ(fault(text.substr(0, text.size() - 1)), noDirectory);
  EXPECT_EQ(faultAt(text, end(text), 0x06054b51, 4), noDirectory);
  // The comment of this archive contains an archive with its own end record.
  std::string inner = ZipText().text(), comment;
  append(comment, inner.size(), 2);
  std::string outer = text.substr(0, end(text) + 20) + comment + inner;
  Expected<std::vector<ZipEntry>> entries = read(outer);
  ASSERT_TRUE(entries.ok());
  EXPECT_EQ(entries->size(), 0u) << "the last end record that fits is the file's";
}

TEST_F(ZipDamage, TheDirectoryLiesInside) {
  const std::string text = zip.text();
  EXPECT_EQ(faultAt(text, end(text) + 16, text.size() + 1, 4), noDirectory);
  EXPECT_EQ(faultAt(text, end(text) + 12, text.size(), 4), noDirectory);
  for (uint64_t count : {1, 3})
    EXPECT_EQ(faultAt(text, end(text) + 10, count, 2), noDirectory) << count;
  EXPECT_EQ(faultAt(text, entry(), 0x02014b51, 4), noDirectory);
}

TEST_F(ZipDamage, AWideDirectoryIsWhereItsLocatorSays) {
  const std::string text = zip.text(/*wide=*/true);
  const size_t locator = end(text) - 20, end64 = locator - 56;
  EXPECT_EQ(fault(text), "");
  EXPECT_EQ(faultAt(text, locator + 8, text.size() - 55, 8), noDirectory);
  EXPECT_EQ(faultAt(text, locator + 8, uint64_t(-1), 8), noDirectory);
  EXPECT_EQ(faultAt(text, end64, 0, 4), noDirectory);
  EXPECT_EQ(faultAt(text, end64 + 48, text.size(), 8), noDirectory);
  EXPECT_EQ(faultAt(text, end64 + 40, uint64_t(-1), 8), noDirectory);
  EXPECT_EQ(faultAt(text, end64 + 32, 3, 8), noDirectory);
  EXPECT_EQ(faultAt(text, locator, 0, 4), noDirectory) << "no locator: 32 bits hold";
}

TEST_F(ZipDamage, EntriesOfTheDirectoryLieInside) {
  const std::string text = zip.text();
  for (size_t length : {28, 30, 32}) // of the name, the extra field and the comment
    EXPECT_EQ(faultAt(text, entry() + length, 0xffff, 2), noDirectory) << length;
  EXPECT_EQ(faultAt(text, entry() + 8, 1, 2), "entry 'm/a' is encrypted or packed with method 0");
  EXPECT_EQ(faultAt(text, entry() + 8, 2, 2), "") << "another flag";
  EXPECT_EQ(faultAt(text, entry() + 20, 4, 4), "entry 'm/a': it is stored and has two sizes");
  EXPECT_EQ(faultAt(text, entry() + 24, 4, 4), "entry 'm/a': it is stored and has two sizes");
}

TEST_F(ZipDamage, DataLiesAfterItsHeader) {
  const std::string text = zip.text();
  EXPECT_EQ(faultAt(text, entry() + 42, text.size() - 29, 4), "entry 'm/a': it reaches outside of the file");
  for (size_t length : {26, 28}) // of the name and the extra field
    EXPECT_EQ(faultAt(text, length, 0xffff, 2), "entry 'm/a': it reaches outside of the file") << length;
  // An entry that begins in the file, and ends beyond its end.
  std::string size;
  append(size, text.size(), 4);
  EXPECT_EQ(fault(std::string(text).replace(entry() + 20, 4, size).replace(entry() + 24, 4, size)),
            "entry 'm/a': it reaches outside of the file");
  // The header's own sizes do not matter: streaming writers only know them afterwards.
  EXPECT_EQ(faultAt(text, 18, 0, 8), "");
}

/// A directory entry of "m/a" that states its size in an extra field.
std::string withExtra(const std::string &extra) {
  ZipText zip;
  zip.add("m/a", "first");
  std::string length;
  append(length, extra.size(), 2);
  zip.directory.replace(30, 2, length);
  zip.directory += extra;
  std::string wide;
  append(wide, 0xffffffff, 4);
  zip.directory.replace(24, 4, wide); // the size; the packed size is unchanged
  return zip.text();
}

std::string field(uint16_t id, const std::string &content, size_t size) {
  std::string text;
  append(text, id, 2);
  append(text, size, 2);
  return text + content;
}

TEST(ZipExtra, OnlyWhatDoesNotFitStandsThere) {
  std::string five;
  append(five, 5, 8);
  const std::string other = field(0x5455, "time", 4);
  for (const std::string &extra : {field(1, five, 8), other + field(1, five, 8), field(1, five, 8) + other}) {
    const std::string text = withExtra(extra);
    Expected<std::vector<ZipEntry>> entries = read(text);
    ASSERT_TRUE(entries.ok()) << entries.status().message();
    EXPECT_EQ(contentOf(entries->at(0)), "first");
  }
  const std::string damaged = "damaged or truncated zip file: ";
  EXPECT_EQ(read(withExtra(field(1, five.substr(1), 7))).status().message(), damaged + noDirectory);
  EXPECT_EQ(read(withExtra(field(1, five, 9))).status().message(), damaged + noDirectory);
  EXPECT_EQ(read(withExtra(other)).status().message(), damaged + noDirectory) << "it stands nowhere";
}

TEST(ZipUnpack, WhatComesOutIsWhatIsStated) {
  auto deflated = [](const std::string &text) {
    std::string packed(compressBound(text.size()), '\0');
    uLongf size = packed.size();
    compress(reinterpret_cast<Bytef *>(packed.data()), &size, reinterpret_cast<const Bytef *>(text.data()),
             text.size());
    return packed.substr(2, size - 6); // without zlib's own header and checksum
  };
  const std::string text = "a text, a text, a text", packed = deflated(text);
  ZipEntry entry{.name = "a", .deflated = true, .size = text.size(), .data = std::as_bytes(std::span(packed))};
  entry.checksum = crc32_z(0, reinterpret_cast<const Bytef *>(text.data()), text.size());
  EXPECT_EQ(contentOf(entry), text);
  const std::string damaged = "damaged or truncated zip file: entry 'a': ";
  for (uint64_t size : {text.size() - 1, text.size() + 1}) {
    ZipEntry other = entry;
    other.size = size;
    EXPECT_EQ(unpack(other).status().message(), damaged + "it cannot be unpacked") << size;
  }
  ZipEntry cut = entry;
  cut.data = cut.data.first(cut.data.size() - 1);
  EXPECT_EQ(unpack(cut).status().message(), damaged + "it cannot be unpacked");
  ++entry.checksum;
  EXPECT_EQ(unpack(entry).status().message(), damaged + "its checksum is wrong");
  entry.deflated = false;
  entry.data = std::as_bytes(std::span(text));
  EXPECT_EQ(unpack(entry).status().message(), damaged + "its checksum is wrong");
}

TEST(ZipFile, BeginsWithAnEntry) {
  auto isZip = [](const std::string &text) { return isZipFile(std::as_bytes(std::span(text))); };
  EXPECT_TRUE(isZip("PK\x03\x04"));
  EXPECT_TRUE(isZip("PK\x03\x04 and more"));
  for (const char *text : {"", "PK\x03", "PK\x05\x06", "pk\x03\x04"})
    EXPECT_FALSE(isZip(text)) << text;
}

TEST(ZipFile, DamagedBytesNeverCrash) {
  // For any bytes: an error, or entries that are inside of the file.
  std::mt19937 generator(1);
  for (const char *name : {"model.pt2", "deflated.pt2"}) {
    const std::string original = textOf(fixture(name));
    for (int i = 0; i < 2000; ++i) {
      std::string text = original;
      // Most of the format is in the directory at the end of the file.
      size_t reach = i % 2 == 0 ? text.size() : std::min<size_t>(text.size(), 1500);
      text[text.size() - 1 - generator() % reach] = static_cast<char>(generator());
      Expected<std::vector<ZipEntry>> entries = read(text);
      if (!entries)
        continue;
      for (const ZipEntry &entry : *entries) {
        auto begin = reinterpret_cast<const char *>(entry.data.data());
        EXPECT_TRUE(entry.data.empty() ||
                    (begin >= text.data() && begin + entry.data.size() <= text.data() + text.size()));
        static_cast<void>(unpack(entry).ok());
      }
    }
  }
}

} // namespace
} // namespace meshplan
