-- VIA's header, the contents of its packets, acknowledgements and connection messages. Packets have no type field: they
-- are recognized by a size that agrees with their header.

local MESSAGES = {
  [1] = "REQUEST", [2] = "ACCEPT", [3] = "REJECT", [4] = "CONFIRM", [5] = "DISCONNECT", [6] = "PEER", [7] = "READY",
  [8] = "GONE",
}
local FIRST_ANSWER = 8
local SIZES = { [1] = 4, [2] = 8, [4] = 4 }
local MESSAGE_WORDS = { "type", "source", "origin", "number", "client", "server", "discriminator", "reliability", "most" }
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
local message_field = { type = ProtoField.uint32("via.agent.type", "Connection message", base.DEC, MESSAGES) }
for index = 2, #MESSAGE_WORDS do
  message_field[MESSAGE_WORDS[index]] = ProtoField.uint32("via.agent." .. MESSAGE_WORDS[index], MESSAGE_WORDS[index])
end
local via_fields = {}
for _, one in pairs(part) do table.insert(via_fields, one) end
for _, one in pairs(message_field) do table.insert(via_fields, one) end
via_proto.fields = via_fields

-- Number of padding bytes behind a header, by its size field.
local function padding(buffer)
  return (buffer:reported_len() - 8 - buffer(4, 4):bitfield(0, 3)) % 8
end

-- True if a packet can be one of VIA: a known kind with a valid length, and at most `most` bytes of padding.
local function is_via(buffer, most)
  if buffer:len() < 8 or buffer(0, 1):uint() > 127 then return false end
  local kind, bytes = buffer(4, 4):bitfield(10, 4), buffer:reported_len() - 8 - padding(buffer)
  local size = SIZES[kind] or (kind >= FIRST_ANSWER and 0 or bytes)
  return KINDS[kind] ~= nil and padding(buffer) <= most and bytes == size and bytes >= 0
end

-- Dissection of the payload, and the description of the packet.
local function payload(buffer, branch, kind, vi, bytes)
  if vi == 0 and kind == 0 and bytes >= 32 then
    for index, name in ipairs(MESSAGE_WORDS) do branch:add(message_field[name], buffer(4 + 4 * index, 4)) end
    local type = buffer(8, 4):uint()
    return "connection " .. (MESSAGES[type] or type)
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
  if vi > 0 and kind == 0 and there >= bytes and bytes > 0 then payload_above(buffer(8, bytes), pinfo, tree) end
  return buffer:len()
end
guess = function(inside, most, pinfo, tree)
  if is_via(inside, most) then via_proto.dissector:call(inside, pinfo, tree) end
end
