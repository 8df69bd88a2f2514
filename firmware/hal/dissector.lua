-- Dissector of HAL packets. Packets have no type; a packet is recognised by a size that agrees with its header.

local hal_proto = Proto("hal", "HAL packet")
local part = {
  source = ProtoField.uint8("hal.source", "Source node"),
  number = ProtoField.uint24("hal.number", "Number of the packet at its source"),
  rest = ProtoField.uint32("hal.rest", "Bytes, modulo 8", base.DEC, nil, 0xE0000000),
  protocol = ProtoField.uint32("hal.protocol", "Protocol", base.DEC, nil, 0x1C000000),
  bytes = ProtoField.uint32("hal.bytes", "Bytes behind this header", base.DEC, nil, 0x000007FF),
  data = ProtoField.bytes("hal.data", "Header of the protocol, and data"),
  padding = ProtoField.bytes("hal.padding", "Padding"),
}
local hal_fields = {}
for _, field in pairs(part) do table.insert(hal_fields, field) end
hal_proto.fields = hal_fields

-- Return true if a packet can be HAL's, with at most `most` bytes of padding.
local function is_hal(buffer, most)
  if buffer:len() < 8 or buffer(0, 1):uint() > 127 then return false end
  local head, there = buffer(4, 4), buffer:reported_len() - 8
  local bytes = head:bitfield(21, 11)
  return head:bitfield(6, 15) == 0 and head:bitfield(0, 3) == bytes % 8 and bytes > 0 and bytes <= MOST
    and there >= bytes and there - bytes <= most
end

function hal_proto.dissector(buffer, pinfo, tree)
  local branch, head = tree:add(hal_proto, buffer()), buffer(4, 4)
  local there, bytes = buffer:len() - 8, head:bitfield(21, 11)
  branch:add(part.source, buffer(0, 1))
  branch:add(part.number, buffer(1, 3))
  for _, name in ipairs({ "rest", "protocol", "bytes" }) do branch:add(part[name], head) end
  branch:add(part.data, buffer(8, math.min(bytes, there)))
  if there > bytes then branch:add(part.padding, buffer(8 + bytes, there - bytes)) end
  pinfo.cols.protocol = "HAL"
  pinfo.cols.info = string.format(
    "packet %d from node %d, protocol %d, %d bytes", buffer(1, 3):uint(), buffer(0, 1):uint(), head:bitfield(3, 3), bytes)
  payload_above(buffer(8, math.min(bytes, there)), pinfo, tree)
  return buffer:len()
end
guess = function(inside, most, pinfo, tree)
  if is_hal(inside, most) then hal_proto.dissector:call(inside, pinfo, tree) end
end
