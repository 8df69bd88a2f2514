-- Wireshark's eyes for sanlab's packets.pcapng: Myrinet packets with their route bytes, type and CRC-8, and packets of SP
-- switches; in them GRIM's header and control messages, the packets of echo, or those of VIA.
--
--   wireshark -X lua_script:tb/report/wireshark/sanlab.lua sim_build/<study>/packets.pcapng
--
-- A message layer is found by the first 16 bits of the packet type: another one adds itself to the table "myrinet.layer",
-- as echo does below, in a file of its own if it likes. VIA's first bits are a node and a number: it is known by its size.

-- ---------------------------------------------------------------- the packet

local myrinet = Proto("myrinet", "Myrinet packet")
local field = {
  route = ProtoField.bytes("myrinet.route", "Route"),
  hop = ProtoField.uint8("myrinet.route.byte", "Route byte", base.HEX),
  delta = ProtoField.int8("myrinet.route.delta", "Output relative to input", base.DEC),
  type = ProtoField.uint32("myrinet.type", "Packet type", base.HEX),
  crc = ProtoField.uint8("myrinet.crc", "CRC-8", base.HEX),
  good = ProtoField.bool("myrinet.crc.good", "CRC-8 is right"),
}
myrinet.fields = field
local harm = {
  bad_crc = ProtoExpert.new("myrinet.crc.bad", "CRC-8 is wrong", expert.group.CHECKSUM, expert.severity.ERROR),
  short = ProtoExpert.new("myrinet.short", "Too short for a packet", expert.group.MALFORMED, expert.severity.ERROR),
}
myrinet.experts = harm
local layers = DissectorTable.new("myrinet.layer", "Message layer", ftypes.UINT16, base.HEX)

-- CRC-8 of ATM header error control: x^8 + x^2 + x + 1, register 0 at the start. A good packet with its CRC gives 0.
local xor = (bit32 or bit).bxor
local crc_of = {}
for byte = 0, 255 do
  local register = byte
  for _ = 1, 8 do
    register = register * 2
    if register > 255 then register = xor(register, 0x107) end
  end
  crc_of[byte] = register
end
local function syndrome(buffer)
  local register = 0
  for index = 0, buffer:len() - 1 do register = crc_of[xor(register, buffer(index, 1):uint())] end
  return register
end

-- The CRC-8 at the end of a packet that the capture has not cut, as fields of a protocol.
local function crc_fields(buffer, branch, of, harm)
  local length = buffer:len()
  if buffer:reported_len() ~= length then return end
  local good = syndrome(buffer) == 0
  branch:add(of.crc, buffer(length - 1, 1))
  branch:add(of.good, buffer(length - 1, 1), good):set_generated()
  if not good then branch:add_proto_expert_info(harm.bad_crc) end
end

-- One branch a route byte: the byte, and the port distance in it.
local function hop_fields(buffer, branch, of, count)
  if count == 0 then return end
  local hops = branch:add(of.route, buffer(0, count))
  for index = 0, count - 1 do
    local delta = buffer(index, 1):uint() % 64
    hops:add(of.hop, buffer(index, 1))
    hops:add(of.delta, buffer(index, 1), delta < 32 and delta or delta - 64)
  end
end

local is_via, via  -- below

function myrinet.dissector(buffer, pinfo, tree)
  local length = buffer:len()
  pinfo.cols.protocol = "Myrinet"
  local branch = tree:add(myrinet, buffer())
  local route = 0
  while route < length and buffer(route, 1):uint() >= 0x80 do route = route + 1 end
  hop_fields(buffer, branch, field, route)
  if length - route < 5 then
    branch:add_proto_expert_info(harm.short)
    return length
  end
  branch:add(field.type, buffer(route, 4))
  crc_fields(buffer, branch, field, harm)
  pinfo.cols.info = string.format("type 0x%08x, %d bytes", buffer(route, 4):uint(), length - route - 5)
  local inside = buffer(route, length - route - 1):tvb()
  local layer = layers:get_dissector(buffer(route, 2):uint())
  if layer then
    layer:call(inside, pinfo, tree)
  elseif is_via(inside, 7) then
    via:call(inside, pinfo, tree)
  end
  return length
end
DissectorTable.get("wtap_encap"):add(wtap.USER0, myrinet)

-- ---------------------------------------------------------------- GRIM

local GRIM_ID = 0x0636
local FIRST_CONTROL = 0x30
local TYPES = {
  [0x01] = "ACTIVE", [0x02] = "SEGMENT", [0x03] = "ERROR_REPORT", [0x04] = "RM_V", [0x05] = "RM_P",
  [0x06] = "RM_RV", [0x07] = "RM_REPLY", [0x08] = "MULTICAST", [0x09] = "MULTICAST_SEGMENT",
  [0x0a] = "MULTICAST_LAST", [0x0c] = "FORWARDED", [0x0d] = "FORWARDED_SEGMENT", [0x0e] = "FORWARDED_LAST", [0x30] = "ACK", [0x31] = "NACK", [0x32] = "ERROR", [0x33] = "SYNC",
  [0x34] = "SYNC_ANSWER",
}
local CAUSES = {
  [1] = "UNKNOWN_ENDPOINT", [2] = "UNKNOWN_TYPE", [3] = "TOO_LONG", [4] = "NOT_REGISTERED", [5] = "BEYOND",
  [6] = "LOCK_NOT_REGISTERED", [7] = "FREED_HERE", [8] = "HOST_DOWN", [9] = "UNKNOWN_TREE", [10] = "INTERRUPTED",
  [11] = "BEGAN_ANEW",
}
local ARGUMENTS = {  -- of remote memory
  [0x04] = { "target", "lock", "lock value", "span" }, [0x05] = { "target", "lock", "lock value", "span" },
  [0x06] = { "remote address", "local address", "lock", "span" }, [0x07] = { "target", "the read", "bytes", "lock" },
}
local DEVICES = { [0] = "HOST", [1] = "NI", [2] = "CELOXICA", [3] = "FRAME_BUFFER" }

local grim = Proto("grim", "GRIM message")
local word = {
  token = ProtoField.uint8("grim.token", "NI token"),
  sequence = ProtoField.uint8("grim.sequence", "NI sequence"),
  type = ProtoField.uint8("grim.type", "Message type", base.HEX, TYPES, 0xFC),
  correction = ProtoField.uint8("grim.correction", "Payload correction", base.DEC, nil, 0x03),
  tree = ProtoField.uint8("grim.tree", "Multicast tree"),
  cause = ProtoField.uint16("grim.cause", "Cause", base.DEC, CAUSES, 0x03E0),
  channel = ProtoField.uint16("grim.channel", "Channel of the message meant", base.DEC, nil, 0x001F),
  source = ProtoField.uint8("grim.source", "Source VNN"),
  source_device = ProtoField.uint8("grim.source.device", "Source device", base.DEC, DEVICES),
  words = ProtoField.uint16("grim.words", "Payload words"),
  bytes = ProtoField.uint32("grim.bytes", "Payload bytes"),
  destination = ProtoField.uint8("grim.destination", "Destination VNN"),
  destination_device = ProtoField.uint8("grim.destination.device", "Destination device", base.DEC, DEVICES),
  source_channel = ProtoField.uint8("grim.channel.source", "Source channel"),
  destination_channel = ProtoField.uint8("grim.channel.destination", "Destination channel"),
  handler = ProtoField.uint16("grim.handler", "Handler"),
  argument = ProtoField.int32("grim.argument", "Argument"),
  reply_token = ProtoField.uint8("grim.reply.token", "Token of the read that it replies to"),
  reply_sequence = ProtoField.uint8("grim.reply.sequence", "Sequence of the read that it replies to"),
  origin = ProtoField.uint8("grim.origin", "VNN whose multicast it copies"),
  payload = ProtoField.bytes("grim.payload", "Payload"),
  padding = ProtoField.bytes("grim.padding", "Padding"),
}
grim.fields = word
local cut = ProtoExpert.new("grim.cut", "Shorter than its header says", expert.group.MALFORMED, expert.severity.ERROR)
grim.experts = { cut }

local function name_of(type) return TYPES[type] or string.format("type 0x%02x", type) end

local function control(buffer, pinfo, branch, type)
  if type == 0x32 then branch:add(word.cause, buffer(4, 2)) end
  if type < 0x33 then branch:add(word.channel, buffer(4, 2)) end
  local source = buffer(6, 1):uint()
  local means = type < 0x33 and string.format(" of token %d sequence %d", buffer(2, 1):uint(), buffer(3, 1):uint()) or ""
  pinfo.cols.info = string.format("%s%s from VNN %d", name_of(type), means, source)
  return buffer:len()
end

local function message(buffer, pinfo, branch, type)
  local words, correction = buffer(8, 2):uint(), buffer(4, 1):uint() % 4
  local bytes = 4 * words - correction
  branch:add(word.correction, buffer(4, 1))
  branch:add(word.tree, buffer(5, 1))
  branch:add(word.words, buffer(8, 2))
  branch:add(word.bytes, buffer(8, 2), bytes):set_generated()
  branch:add(word.destination, buffer(10, 1))
  branch:add(word.destination_device, buffer(11, 1))
  branch:add(word.source_channel, buffer(12, 1))
  branch:add(word.destination_channel, buffer(13, 1))
  branch:add(word.handler, buffer(14, 2))
  for index = 0, 3 do
    local item, meaning = branch:add(word.argument, buffer(16 + 4 * index, 4)), (ARGUMENTS[type] or {})[index + 1]
    if meaning then item:append_text(", " .. meaning) end
  end
  local left = buffer:len() - 32
  if bytes > left then
    branch:add_proto_expert_info(cut)
    bytes = left
  end
  if bytes > 0 then branch:add(word.payload, buffer(32, bytes)) end
  if left > bytes then branch:add(word.padding, buffer(32 + bytes, left - bytes)) end
  if type == 0x07 then
    branch:add(word.reply_token, buffer(22, 1))
    branch:add(word.reply_sequence, buffer(23, 1))
  elseif type >= 0x0c then
    branch:add(word.origin, buffer(10, 1))
  end
  pinfo.cols.info = string.format(
    "%s VNN %d to %d, %d bytes, handler %d, token %d sequence %d", name_of(type), buffer(6, 1):uint(),
    buffer(10, 1):uint(), 4 * words - correction, buffer(14, 2):uint(), buffer(2, 1):uint(), buffer(3, 1):uint())
  return buffer:len()
end

function grim.dissector(buffer, pinfo, tree)
  if buffer:len() < 8 then return 0 end
  pinfo.cols.protocol = "GRIM"
  local branch = tree:add(grim, buffer())
  local type = math.floor(buffer(4, 1):uint() / 4)
  branch:append_text(", " .. name_of(type))
  branch:add(word.token, buffer(2, 1))
  branch:add(word.sequence, buffer(3, 1))
  branch:add(word.type, buffer(4, 1))
  branch:add(word.source, buffer(6, 1))
  branch:add(word.source_device, buffer(7, 1))
  if type >= FIRST_CONTROL then return control(buffer, pinfo, branch, type) end
  if buffer:len() < 32 then
    branch:add_proto_expert_info(cut)
    return buffer:len()
  end
  return message(buffer, pinfo, branch, type)
end
layers:add(GRIM_ID, grim)

-- ---------------------------------------------------------------- echo, the template of a message layer

local ECHO_TYPE = 0x0EC0
local echo = Proto("echo_layer", "echo message")
local place = {
  source = ProtoField.uint8("echo_layer.source", "Source VNN"),
  number = ProtoField.uint8("echo_layer.number", "Number"),
  destination = ProtoField.uint16("echo_layer.destination", "Destination VNN"),
  bytes = ProtoField.uint16("echo_layer.bytes", "Payload bytes"),
  payload = ProtoField.bytes("echo_layer.payload", "Payload"),
}
echo.fields = place

function echo.dissector(buffer, pinfo, tree)
  if buffer:len() < 8 then return 0 end
  pinfo.cols.protocol = "echo"
  local branch, bytes = tree:add(echo, buffer()), buffer(6, 2):uint()
  branch:add(place.source, buffer(2, 1))
  branch:add(place.number, buffer(3, 1))
  branch:add(place.destination, buffer(4, 2))
  branch:add(place.bytes, buffer(6, 2))
  if bytes > 0 and bytes <= buffer:len() - 8 then branch:add(place.payload, buffer(8, bytes)) end
  pinfo.cols.info = string.format(
    "number %d, VNN %d to %d, %d bytes", buffer(3, 1):uint(), buffer(2, 1):uint(), buffer(4, 2):uint(), bytes)
  return buffer:len()
end
layers:add(ECHO_TYPE, echo)

-- ---------------------------------------------------------------- VIA (pymodels/formats/via.py)

local KINDS = {
  [0] = "SEND", [1] = "IMMEDIATE", [2] = "ADDRESS", [3] = "RDMA", [4] = "READ", [5] = "DATA", [8] = "DONE",
  [9] = "NO_DESCRIPTOR", [10] = "TOO_LONG", [11] = "LOST", [12] = "NOT_ALLOWED",
}
local LETTERS = {
  [1] = "REQUEST", [2] = "ACCEPT", [3] = "REJECT", [4] = "CONFIRM", [5] = "DISCONNECT", [6] = "PEER", [7] = "READY",
  [8] = "GONE",
}
local FIRST_ANSWER = 8
local SIZES = { [1] = 4, [2] = 8, [4] = 4 }
local LETTER_NAMES = { "type", "source", "origin", "number", "client", "server", "discriminator", "reliability", "most" }
local via_proto = Proto("via", "VIA packet")
local part = {
  source = ProtoField.uint8("via.source", "Source node"),
  connection = ProtoField.uint8("via.connection", "Number of the connection"),
  number = ProtoField.uint16("via.number", "Number of the message at its source"),
  bytes = ProtoField.uint32("via.bytes", "Payload bytes"),
  rest = ProtoField.uint32("via.rest", "Payload bytes, modulo 8", base.DEC, nil, 0xE0000000),
  vi = ProtoField.uint32("via.vi", "VI at the target", base.DEC, nil, 0x1FC00000),
  kind = ProtoField.uint32("via.kind", "Kind", base.DEC, KINDS, 0x003C0000),
  first = ProtoField.bool("via.first", "First packet of its message", 32, nil, 0x00020000),
  last = ProtoField.bool("via.last", "Last packet of its message", 32, nil, 0x00010000),
  sequence = ProtoField.uint32("via.sequence", "Sequence number", base.DEC, nil, 0x0000FFFF),
  named = ProtoField.uint32("via.answered", "Number of the message that is answered", base.DEC, nil, 0x0000FFFF),
  immediate = ProtoField.uint32("via.immediate", "Immediate data", base.HEX),
  address = ProtoField.uint32("via.rdma.address", "Virtual address of the write or read", base.HEX),
  handle = ProtoField.uint32("via.rdma.handle", "Memory handle of the write or read", base.HEX),
  wanted = ProtoField.uint32("via.rdma.bytes", "Bytes to be read"),
  data = ProtoField.bytes("via.data", "Data"),
  padding = ProtoField.bytes("via.padding", "Padding"),
}
local letter_field = { type = ProtoField.uint32("via.agent.type", "Connection message", base.DEC, LETTERS) }
for index = 2, #LETTER_NAMES do
  letter_field[LETTER_NAMES[index]] = ProtoField.uint32("via.agent." .. LETTER_NAMES[index], LETTER_NAMES[index])
end
local via_fields = {}
for _, one in pairs(part) do table.insert(via_fields, one) end
for _, one in pairs(letter_field) do table.insert(via_fields, one) end
via_proto.fields = via_fields

-- How much of what stands behind a header is no payload, as the header says.
local function padding(buffer)
  return (buffer:reported_len() - 8 - buffer(4, 4):bitfield(0, 3)) % 8
end

-- Whether a packet can be one of VIA: a kind that there is, as long as that is, with so much padding at most.
is_via = function(buffer, most)
  if buffer:len() < 8 or buffer(0, 1):uint() > 127 then return false end
  local kind, bytes = buffer(4, 4):bitfield(10, 4), buffer:reported_len() - 8 - padding(buffer)
  local size = SIZES[kind] or (kind >= FIRST_ANSWER and 0 or bytes)
  return KINDS[kind] ~= nil and padding(buffer) <= most and bytes == size and bytes >= 0
end

-- The payload as what it is; what the packet is, in words.
local function payload(buffer, branch, kind, vi, bytes)
  if vi == 0 and kind == 0 and bytes >= 32 then
    for index, name in ipairs(LETTER_NAMES) do branch:add(letter_field[name], buffer(4 + 4 * index, 4)) end
    local type = buffer(8, 4):uint()
    return "connection " .. (LETTERS[type] or type)
  end
  if kind == 1 and bytes == 4 then
    branch:add(part.immediate, buffer(8, 4))
  elseif kind == 2 and bytes == 8 then
    branch:add(part.address, buffer(8, 4))
    branch:add(part.handle, buffer(12, 4))
  elseif kind == 4 and bytes == 4 then
    branch:add(part.wanted, buffer(8, 4))
  elseif bytes > 0 then
    branch:add(part.data, buffer(8, bytes))
  end
  return KINDS[kind]
end

function via_proto.dissector(buffer, pinfo, tree)
  local branch, head = tree:add(via_proto, buffer()), buffer(4, 4)
  local there, bytes = buffer:len() - 8, buffer:reported_len() - 8 - padding(buffer)
  local vi, kind, sequence = head:bitfield(3, 7), head:bitfield(10, 4), head:bitfield(16, 16)
  branch:add(part.source, buffer(0, 1))
  branch:add(part.connection, buffer(1, 1))
  branch:add(part.number, buffer(2, 2))
  branch:add(part.bytes, bytes)
  local order = kind >= FIRST_ANSWER and "named" or "sequence"
  for _, name in ipairs({ "rest", "vi", "kind", "first", "last", order }) do branch:add(part[name], head) end
  local name = payload(buffer, branch, kind, vi, math.min(bytes, there))
  if there > bytes then branch:add(part.padding, buffer(8 + bytes, there - bytes)) end
  pinfo.cols.protocol = "VIA"
  if kind >= FIRST_ANSWER then
    pinfo.cols.info = string.format("%s of message %d from node %d to VI %d", name, sequence, buffer(0, 1):uint(), vi)
    return buffer:len()
  end
  local whole = (head:bitfield(14, 1) == 1 and ", first" or "") .. (head:bitfield(15, 1) == 1 and ", last" or "")
  pinfo.cols.info = string.format(
    "%s from node %d to VI %d, %d bytes, message %d%s, sequence %d", name, buffer(0, 1):uint(), vi, bytes,
    buffer(2, 2):uint(), whole, sequence)
  return buffer:len()
end
via = via_proto.dissector

-- ---------------------------------------------------------------- packets of SP switches (pymodels/formats/sp.py)

local ROUTE, HEADER, VIA = 8, 16, 8
local sp = Proto("sp", "SP packet")
local sp_field = {
  route = ProtoField.bytes("sp.route", "Route"),
  hop = ProtoField.uint8("sp.route.byte", "Route byte", base.HEX),
  delta = ProtoField.int8("sp.route.delta", "Output relative to input", base.DEC),
  source = ProtoField.uint16("sp.source", "Source node"),
  bytes = ProtoField.uint16("sp.bytes", "Payload bytes"),
  destination = ProtoField.uint16("sp.destination", "Destination node"),
  key = ProtoField.uint32("sp.via.key", "VIA header, first word", base.HEX),
  second = ProtoField.uint32("sp.via.second", "VIA header, second word", base.HEX),
  data = ProtoField.bytes("sp.data", "User data"),
  crc = ProtoField.uint8("sp.crc", "CRC-8", base.HEX),
  good = ProtoField.bool("sp.crc.good", "CRC-8 is right"),
}
sp.fields = sp_field
local sp_harm = {
  bad_crc = ProtoExpert.new("sp.crc.bad", "CRC-8 is wrong", expert.group.CHECKSUM, expert.severity.ERROR),
  short = ProtoExpert.new("sp.short", "Too short for a packet", expert.group.MALFORMED, expert.severity.ERROR),
  size = ProtoExpert.new("sp.size", "Not as long as its header says", expert.group.MALFORMED, expert.severity.ERROR),
}
sp.experts = sp_harm

function sp.dissector(buffer, pinfo, tree)
  local length = buffer:len()
  pinfo.cols.protocol = "SP"
  local branch = tree:add(sp, buffer())
  if length < HEADER + VIA + 1 then
    branch:add_proto_expert_info(sp_harm.short)
    return length
  end
  local hops = 0
  while hops < ROUTE and buffer(hops, 1):uint() ~= 0 do hops = hops + 1 end
  hop_fields(buffer, branch, sp_field, hops)
  branch:add(sp_field.source, buffer(8, 2))
  branch:add(sp_field.bytes, buffer(10, 2))
  branch:add(sp_field.destination, buffer(12, 2))
  branch:add(sp_field.key, buffer(HEADER, 4))
  branch:add(sp_field.second, buffer(HEADER + 4, 4))
  if length > HEADER + VIA + 1 then branch:add(sp_field.data, buffer(HEADER + VIA, length - HEADER - VIA - 1)) end
  crc_fields(buffer, branch, sp_field, sp_harm)
  if buffer(10, 2):uint() ~= buffer:reported_len() - HEADER - 1 then branch:add_proto_expert_info(sp_harm.size) end
  pinfo.cols.info = string.format(
    "node %d to %d, %d bytes", buffer(8, 2):uint(), buffer(12, 2):uint(), buffer(10, 2):uint())
  local inside = buffer(HEADER, length - HEADER - 1):tvb()
  if is_via(inside, 0) then via:call(inside, pinfo, tree) end
  return length
end
DissectorTable.get("wtap_encap"):add(wtap.USER1, sp)
