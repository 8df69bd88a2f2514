-- Dissector of UDP frames: two words of the NIC's header, then an IP packet. Frames have no type; a frame is recognised by a
-- size that agrees with its header, and by the first byte of an IP header.

local frame_proto = Proto("sanlabudp", "UDP frame")
local part = {
  source = ProtoField.uint8("sanlabudp.source", "Source node"),
  number = ProtoField.uint24("sanlabudp.number", "Number of the frame at its source"),
  rest = ProtoField.uint32("sanlabudp.rest", "Bytes, modulo 8", base.DEC, nil, 0xE0000000),
  bytes = ProtoField.uint32("sanlabudp.bytes", "Bytes behind this header", base.DEC, nil, 0x00003FFF),
  padding = ProtoField.bytes("sanlabudp.padding", "Padding"),
}
local frame_fields = {}
for _, field in pairs(part) do table.insert(frame_fields, field) end
frame_proto.fields = frame_fields
local internet = Dissector.get("ip")

-- Return true if a packet can be a frame with at most `most` bytes of padding.
local function is_frame(buffer, most)
  if buffer:len() < 28 or buffer(0, 1):uint() > 127 or buffer(8, 1):uint() ~= 0x45 then return false end
  local head, there = buffer(4, 4), buffer:reported_len() - 8
  local bytes = head:bitfield(18, 14)
  return head:bitfield(3, 15) == 0 and head:bitfield(0, 3) == bytes % 8 and bytes > 20 and bytes <= MOST
    and there >= bytes and there - bytes <= most
end

function frame_proto.dissector(buffer, pinfo, tree)
  local branch, head = tree:add(frame_proto, buffer(0, 8)), buffer(4, 4)
  local there, bytes = buffer:len() - 8, head:bitfield(18, 14)
  branch:add(part.source, buffer(0, 1))
  branch:add(part.number, buffer(1, 3))
  for _, name in ipairs({ "rest", "bytes" }) do branch:add(part[name], head) end
  if there > bytes then branch:add(part.padding, buffer(8 + bytes, there - bytes)) end
  internet:call(buffer(8, math.min(bytes, there)):tvb(), pinfo, tree)
  return buffer:len()
end
guess = function(inside, most, pinfo, tree)
  if is_frame(inside, most) then frame_proto.dissector:call(inside, pinfo, tree) end
end
