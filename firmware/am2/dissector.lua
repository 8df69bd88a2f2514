-- AM-II's packets: messages with their payload, and control packets of the other NIC. Packets have no type field: they
-- are recognized by a size that agrees with their header.

local am2_proto = Proto("am2", "Active Messages II")
local part = {
  source = ProtoField.uint8("am2.source", "Source node"),
  endpoint = ProtoField.uint32("am2.endpoint", "Source endpoint", base.DEC, nil, 0x00FE0000),
  number = ProtoField.uint32("am2.number", "Number of the message in its queue", base.DEC, nil, 0x0000FFFF),
  rest = ProtoField.uint32("am2.rest", "Bytes, modulo 8", base.DEC, nil, 0xE0000000),
  is_control = ProtoField.bool("am2.is_control", "Answer of the NIC", 32, nil, 0x10000000),
  queue = ProtoField.uint32("am2.queue", "Queue", base.DEC, { [0] = "requests", [1] = "replies" }, 0x08000000),
  channel = ProtoField.uint32("am2.channel", "Channel", base.DEC, nil, 0x0000FF00),
  sequence = ProtoField.uint32("am2.sequence", "Sequence of the channel", base.DEC, nil, 0x000000FF),
  kind = ProtoField.uint32("am2.kind", "Kind", base.DEC, KINDS, 0x70000000),
  null = ProtoField.bool("am2.null", "Says only that the request was handled", 32, nil, 0x04000000),
  transfer = ProtoField.uint32("am2.transfer", "Number of the transfer", base.DEC, nil, 0x0000FF00),
  handler = ProtoField.uint32("am2.handler", "Handler", base.DEC, nil, 0x000000FF),
  node = ProtoField.uint16("am2.node", "Destination node"),
  to = ProtoField.uint16("am2.to", "Destination endpoint"),
  tag = ProtoField.uint64("am2.tag", "Tag that it carries", base.HEX),
  size = ProtoField.uint16("am2.size", "Bytes of payload"),
  offset = ProtoField.uint32("am2.offset", "Place in the segment"),
  own_tag = ProtoField.uint64("am2.own_tag", "Tag of the source", base.HEX),
  argument = ProtoField.uint32("am2.argument", "Argument"),
  payload = ProtoField.bytes("am2.payload", "Payload"),
  code = ProtoField.uint32("am2.code", "Answer", base.DEC, CODES),
  padding = ProtoField.bytes("am2.padding", "Padding"),
}
local am2_fields = {}
for _, one in pairs(part) do table.insert(am2_fields, one) end
am2_proto.fields = am2_fields

-- Number of bytes of a packet behind its header, by its own fields.
local function bytes_of(buffer)
  if buffer(4, 4):bitfield(3, 1) == 1 then return CONTROL end
  if buffer:len() < 8 + HEAD then return -1 end
  local size, count = buffer(24, 2):uint(), math.min(buffer(8, 4):bitfield(12, 4), 8)
  return size > 0 and LEAD + size or HEAD + 4 * count
end

-- True if a packet can be one of AM-II, with at most `most` bytes of padding.
local function is_am2(buffer, most)
  if buffer:len() < 16 or buffer(0, 1):uint() >= NODES or buffer(4, 4):bitfield(5, 11) ~= 0 then return false end
  local bytes, there = bytes_of(buffer), buffer:reported_len() - 8
  return bytes >= 0 and buffer(4, 4):bitfield(0, 3) == bytes % 8 and there >= bytes and there - bytes <= most
end

-- Dissection of the message behind a header, and its description.
local function message(buffer, branch)
  local head, size = buffer(0, 4), buffer(16, 2):uint()
  local count = math.min(head:bitfield(12, 4), 8, math.floor((buffer:len() - HEAD) / 4))
  for _, name in ipairs({ "kind", "null", "transfer", "handler" }) do branch:add(part[name], head) end
  branch:add(part.node, buffer(4, 2))
  branch:add(part.to, buffer(6, 2))
  branch:add(part.tag, buffer(8, 8))
  branch:add(part.size, buffer(16, 2))
  branch:add(part.offset, buffer(20, 4))
  branch:add(part.own_tag, buffer(24, 8))
  for index = 1, count do branch:add(part.argument, buffer(HEAD - 4 + 4 * index, 4)) end
  if size > 0 then branch:add(part.payload, buffer(LEAD, math.min(size, buffer:len() - LEAD))) end
  local what = head:bitfield(5, 1) == 1 and "nothing" or "handler " .. head:bitfield(24, 8)
  return string.format("to endpoint %d of node %d, %s, %d arguments, %d bytes", buffer(6, 2):uint(), buffer(4, 2):uint(),
    what, count, size)
end

function am2_proto.dissector(buffer, pinfo, tree)
  local branch, second, there = tree:add(am2_proto, buffer()), buffer(4, 4), buffer:len() - 8
  local bytes = math.min(bytes_of(buffer), there)
  branch:add(part.source, buffer(0, 1))
  for _, name in ipairs({ "endpoint", "number" }) do branch:add(part[name], buffer(0, 4)) end
  for _, name in ipairs({ "rest", "is_control", "queue", "channel", "sequence" }) do branch:add(part[name], second) end
  local told
  if second:bitfield(3, 1) == 1 then
    branch:add(part.code, buffer(8, 4))
    local code = buffer(8, 4):uint()
    told = code == 0 and "acknowledgement" or "returned: " .. (CODES[code] or code)
  else
    local what = second:bitfield(4, 1) == 1 and "reply" or "request"
    told = string.format("%s of endpoint %d, %s", what, buffer(0, 4):bitfield(8, 7), message(buffer(8, bytes), branch))
  end
  if there > bytes then branch:add(part.padding, buffer(8 + bytes, there - bytes)) end
  pinfo.cols.protocol = "AM2"
  pinfo.cols.info = string.format("node %d, channel %d: %s", buffer(0, 1):uint(), second:bitfield(16, 8), told)
  return buffer:len()
end
guess = function(inside, most, pinfo, tree)
  if is_am2(inside, most) then am2_proto.dissector:call(inside, pinfo, tree) end
end
