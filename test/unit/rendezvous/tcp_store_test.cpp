//===- tcp_store_test.cpp - a key-value store over TCP --------------------===//

#include "runtime/rendezvous/tcp_store.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

namespace meshplan {
namespace {

constexpr std::chrono::milliseconds limit = std::chrono::seconds(20);

/// A port that was free just before.
uint16_t freePort() {
  int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(probe, reinterpret_cast<sockaddr *>(&address), size), 0);
  EXPECT_EQ(::getsockname(probe, reinterpret_cast<sockaddr *>(&address), &size), 0);
  ::close(probe);
  return ntohs(address.sin_port);
}

TEST(TcpStore, TwoClientsSeeTheSame) {
  TcpAddress address{"127.0.0.1", freePort()};
  auto server = openTcpStore(address, true, limit);
  ASSERT_TRUE(server.ok()) << server.status().message();
  auto client = openTcpStore(address, false, limit);
  ASSERT_TRUE(client.ok()) << client.status().message();
  KeyValueStore &here = **server, &there = **client;
  const std::string value("any\0bytes", 9);

  EXPECT_FALSE(*there.has({"a"}));
  ASSERT_TRUE(here.set("a", value).ok());
  EXPECT_TRUE(*here.has({"a"})) << "after this answer the others see it, too";
  EXPECT_TRUE(*there.has({"a"}));
  EXPECT_FALSE(*there.has({"a", "b"})) << "all of them";
  EXPECT_EQ(*there.get("a"), value);
  EXPECT_EQ(*here.setOnce("a", "other"), value);
  EXPECT_EQ(*here.setOnce("b", "first"), "first");
  EXPECT_EQ(*there.setOnce("b", "second"), "first");
  EXPECT_EQ(*here.add("n", 2), 2);
  EXPECT_EQ(*there.add("n", 0), 2);
  ASSERT_TRUE(there.remove("a").ok());
  EXPECT_FALSE(*here.has({"a"}));
  const std::string large(KeyValueStore::largestValue, 'x');
  ASSERT_TRUE(here.set("large", large).ok());
  EXPECT_TRUE(*here.has({"large"}));
  EXPECT_EQ(*there.get("large"), large);
}

TEST(TcpStore, NobodyServes) {
  TcpAddress address{"127.0.0.1", freePort()};
  Status status = openTcpStore(address, false, std::chrono::seconds(1)).status();
  EXPECT_EQ(status.code(), StatusCode::peerLost);
  EXPECT_THAT(status.message(), testing::StartsWith("cannot reach the store at 127.0.0.1:" +
                                                    std::to_string(address.port) + " within 1 s: "));
}

TEST(TcpStore, APortThatIsTaken) {
  TcpAddress address{"127.0.0.1", freePort()};
  auto first = openTcpStore(address, true, limit);
  ASSERT_TRUE(first.ok()) << first.status().message();
  Status status = openTcpStore(address, true, limit).status();
  EXPECT_EQ(status.code(), StatusCode::invalid);
  EXPECT_THAT(status.message(),
              testing::StartsWith("cannot serve the store at 127.0.0.1:" + std::to_string(address.port) + ": "));
}

TEST(TcpStore, AServerThatHasGone) {
  TcpAddress address{"127.0.0.1", freePort()};
  auto server = openTcpStore(address, true, limit);
  ASSERT_TRUE(server.ok()) << server.status().message();
  auto client = openTcpStore(address, false, limit);
  ASSERT_TRUE(client.ok()) << client.status().message();
  server->reset();
  Status status = (*client)->set("a", "b");
  if (status.ok()) // the system may have buffered the message
    status = (*client)->has({"a"}).status();
  EXPECT_EQ(status.code(), StatusCode::peerLost);
  EXPECT_THAT(status.message(),
              testing::StartsWith("the store at 127.0.0.1:" + std::to_string(address.port) + " is gone: "));
}

} // namespace
} // namespace meshplan
