"""Sends bytes to itself over one TCP connection of the loopback, and prints the seconds that it takes."""

from __future__ import annotations

import socket
import sys
import threading
import time

CHUNK = 1 << 20


def receive(listener: socket.socket, size: int) -> None:
    connection, _ = listener.accept()
    with connection:
        while size > 0:
            size -= len(connection.recv(CHUNK))
        connection.sendall(b"\0")


def seconds(size: int) -> float:
    """Seconds until a thread has received `size` bytes and this one knows."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        receiver = threading.Thread(target=receive, args=(listener, size))
        receiver.start()
        with socket.create_connection(listener.getsockname()) as connection:
            begin = time.monotonic()
            for left in range(size, 0, -CHUNK):
                connection.sendall(bytes(min(left, CHUNK)))
            connection.recv(1)
            taken = time.monotonic() - begin
        receiver.join()
    return taken


if __name__ == "__main__":
    print(seconds(int(sys.argv[1])))
