"""SRAM layout and packet format, shared by firmware and host library."""

import struct

PROGRAM_END, CHAIN, FLAG_BLOCK = 0x8000, 0x8000, 0x8018  # below PROGRAM_END: an executed program
# host DMA chain 0: a ring of two control blocks, the packet and then the flag
FLAG = 0x8030  # behind the blocks: the word 1, which the second block copies behind the packet in the inbox
INBOX = 0x8040  # written by the host: physical address of its inbox; zero until it is ready
CONSUMED = 0x8044  # the host writes 1 when it has taken a packet out of its inbox, the NIC writes 0
ROUTES = 0x8100  # 16 bytes a VNN: the route, right-aligned in 8 bytes, and its start
OUT = 0xA000  # the slot: 8 bytes for the route, then the packet
STATE = OUT + 80  # state of the slot: 0 empty, 1 full (written by the host), 2 on its way
IN = 0xA100  # the received packet, followed by the CRC-8 syndrome

TYPE = 0x0EC0  # first 16 bits of a packet; the top bit is 0, as in every Myrinet type
HEADER = struct.Struct(">HBBHH")  # type, source VNN, number, destination VNN, payload bytes
PAYLOAD, PACKET = 64, HEADER.size + 64  # largest payload, and with its header, bytes
