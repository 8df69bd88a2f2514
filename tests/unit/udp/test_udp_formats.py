"""IP and UDP on the wire: headers, checksums and fragments, compared with an independent implementation.

Strategy: Scapy builds and reads the same packets; the checksum is also added up word by word, as in RFC 1071.
"""

from __future__ import annotations

import random

import pytest
from scapy.layers.inet import IP, UDP, in4_chksum
from scapy.packet import Raw

from firmware.udp import formats as udp


def word_by_word(data: bytes) -> int:
    """Return the checksum by the definition of RFC 1071, section 1."""
    padded, total = data + b"\0" * (len(data) & 1), 0
    for at in range(0, len(padded), 2):
        total += padded[at] << 8 | padded[at + 1]
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@pytest.mark.parametrize("seed", range(50))
def test_the_checksum_is_that_of_the_rfc(seed: int) -> None:
    rng = random.Random(seed)
    data = rng.choice((rng.randbytes(rng.randrange(40)), b"\xff" * rng.randrange(9), bytes(rng.randrange(9))))
    assert udp.checksum(data) == word_by_word(data)


@pytest.mark.parametrize("seed", range(20))
def test_headers_and_checksums_match_those_of_scapy(seed: int) -> None:
    rng = random.Random(seed)
    data, nodes = rng.randbytes(rng.randrange(300)), (rng.randrange(128), rng.randrange(128))
    source, target = (udp.address(node) for node in nodes)
    head = udp.Udp(rng.randrange(1, 65536), rng.randrange(1, 65536), udp.UDP_BYTES + len(data))
    total = udp.datagram_sum(source, target, head.pack() + data)
    ip = udp.Ip(source, target, rng.randrange(65536), udp.IP_BYTES + head.size)
    frame = ip.pack() + head._replace(sum=total).pack() + data
    theirs = IP(src=f"10.0.0.{nodes[0] + 1}", dst=f"10.0.0.{nodes[1] + 1}", id=ip.number, ttl=64)
    theirs /= UDP(sport=head.source, dport=head.destination)
    assert bytes(theirs / Raw(data)) == frame
    read = IP(frame)
    assert in4_chksum(17, read, bytes(read[UDP])) == 0
    assert udp.Ip.unpack(frame) == ip and udp.is_right(source, target, frame[udp.IP_BYTES :])
    assert [udp.node_of(source), udp.node_of(target)] == list(nodes)


def test_a_checksum_of_zero_is_sent_as_ones() -> None:
    for last in range(65536):
        datagram = udp.Udp(1, 2, 10).pack() + last.to_bytes(2, "big")
        if udp.checksum(udp.pseudo(5, 6, 10) + datagram) == 0:
            assert udp.datagram_sum(5, 6, datagram) == 0xFFFF
            return
    raise AssertionError("no data give the sum 0")


@pytest.mark.parametrize("mtu", [576, 1500, 9000])
@pytest.mark.parametrize("size", [8, 555, 556, 557, 1480, 1481, 8980, 8981, 32776, 65515])
def test_fragments_fill_frames_and_are_multiples_of_eight_bytes(mtu: int, size: int) -> None:
    cut = udp.parts(size, mtu)
    assert [offset for offset, _ in cut] == [sum(part for _, part in cut[:index]) for index in range(len(cut))]
    assert sum(part for _, part in cut) == size and all(udp.IP_BYTES + part <= mtu for _, part in cut)
    assert all(part % 8 == 0 and udp.IP_BYTES + part > mtu - 8 for _, part in cut[:-1])
    for offset, part in cut:
        ip = udp.Ip(1, 2, 3, udp.IP_BYTES + part, offset, offset + part < size)
        assert udp.Ip.unpack(ip.pack() + bytes(part)) == ip
