-- Dissector of AM packets: messages, and payloads, each in front of its message. Packets have no type; a packet is
-- recognised by a size that agrees with its header.

local KIND = { [0] = "request", [1] = "reply" }
local am_proto = Proto("am", "Active Message")
local part = {
  source = ProtoField.uint8("am.source", "Source node"),
  number = ProtoField.uint24("am.number", "Number of the packet at its source"),
  rest = ProtoField.uint32("am.rest", "Bytes, modulo 8", base.DEC, nil, 0xE0000000),
  is_payload = ProtoField.bool("am.is_payload", "Payload of the message that follows", 32, nil, 0x10000000),
  kind = ProtoField.uint32("am.kind", "Kind", base.DEC, KIND, 0x08000000),
  slot = ProtoField.uint32("am.slot", "Slot of the request", base.DEC, nil, 0x06000000),
  bytes = ProtoField.uint32("am.bytes", "Bytes behind this header", base.DEC, nil, 0x00001FFF),
  destination = ProtoField.uint8("am.destination", "Destination node"),
  image = ProtoField.uint24("am.image", "Check of the code image", base.HEX),
  handler = ProtoField.uint32("am.handler", "Address of the handler; 0: reply without handler", base.HEX),
  argument = ProtoField.uint32("am.argument", "Argument"),
  size = ProtoField.uint32("am.size", "Bytes of its payload", base.DEC, nil, 0x00001FFF),
  payload = ProtoField.bytes("am.payload", "Payload"),
  padding = ProtoField.bytes("am.padding", "Padding"),
}
local am_fields = {}
for _, field in pairs(part) do table.insert(am_fields, field) end
am_proto.fields = am_fields

-- Return true if a packet can be AM's, with at most `most` bytes of padding.
local function is_am(buffer, most)
  if buffer:len() < 8 or buffer(0, 1):uint() >= NODES then return false end
  local head, there = buffer(4, 4), buffer:reported_len() - 8
  local bytes = head:bitfield(19, 13)
  if head:bitfield(7, 12) ~= 0 or head:bitfield(0, 3) ~= bytes % 8 or bytes == 0 or bytes > MOST then return false end
  return there >= bytes and there - bytes <= most and (head:bitfield(3, 1) == 1 or bytes == MESSAGE)
end

-- Add the fields of a message to the tree. Return a summary.
local function message(buffer, branch)
  local last = buffer(28, 4)
  local arguments, size = last:bitfield(4, 3), last:bitfield(19, 13)
  branch:add(part.destination, buffer(0, 1))
  branch:add(part.image, buffer(1, 3))
  branch:add(part.handler, buffer(4, 4))
  for index = 1, math.min(arguments, 5) do branch:add(part.argument, buffer(4 + 4 * index, 4)) end
  branch:add(part.size, last)
  return string.format("to %d, handler 0x%x, %d arguments, %d bytes", buffer(0, 1):uint(), buffer(4, 4):uint(), arguments, size)
end

function am_proto.dissector(buffer, pinfo, tree)
  local branch, head, there = tree:add(am_proto, buffer()), buffer(4, 4), buffer:len() - 8
  local bytes = math.min(head:bitfield(19, 13), there)
  branch:add(part.source, buffer(0, 1))
  branch:add(part.number, buffer(1, 3))
  for _, name in ipairs({ "rest", "is_payload", "kind", "slot", "bytes" }) do branch:add(part[name], head) end
  local summary = string.format("%s of node %d, slot %d, ", KIND[head:bitfield(4, 1)], buffer(0, 1):uint(), head:bitfield(5, 2))
  if head:bitfield(3, 1) == 1 then
    branch:add(part.payload, buffer(8, bytes))
    summary = "payload of the " .. summary .. bytes .. " bytes"
  elseif bytes == MESSAGE then
    summary = summary .. message(buffer(8, bytes), branch)
  end
  if there > bytes then branch:add(part.padding, buffer(8 + bytes, there - bytes)) end
  pinfo.cols.protocol, pinfo.cols.info = "AM", summary
  return buffer:len()
end
guess = function(inside, most, pinfo, tree)
  if is_am(inside, most) then am_proto.dissector:call(inside, pinfo, tree) end
end
