-- EPOS's packets: frames of messages. The composition of a frame says which words follow the header.

local epos_proto = Proto("epos", "EPOS frame")
local part = {
  source = ProtoField.uint8("epos.source", "Source node"),
  number = ProtoField.uint16("epos.number", "Number of the frame at its source"),
  composition = ProtoField.uint8("epos.composition", "Composition", base.HEX),
  message = ProtoField.uint32("epos.message", "Number of the message", base.DEC, nil, 0x00FFC000),
  index = ProtoField.uint32("epos.index", "Number of the frame in it", base.DEC, nil, 0x00003FFF),
  last = ProtoField.bool("epos.last", "Last frame of the message", 32, nil, 0x40000000),
  communicator = ProtoField.uint8("epos.communicator", "Communicator"),
  bytes = ProtoField.uint16("epos.bytes", "Bytes of payload"),
  payload = ProtoField.bytes("epos.payload", "Payload"),
  padding = ProtoField.bytes("epos.padding", "Padding"),
}
local epos_fields = {}
for _, one in pairs(part) do table.insert(epos_fields, one) end
epos_proto.fields = epos_fields

-- Whether a packet can be a frame of EPOS, with so much padding at most.
local function is_epos(buffer, most)
  if buffer:len() < 12 or buffer(0, 1):uint() ~= DATA or buffer(1, 1):uint() >= NODES then return false end
  if buffer(8, 4):bitfield(0, 1) ~= 0 or buffer(8, 1):bitfield(2, 6) ~= buffer(1, 1):uint() then return false end
  local there, bytes = buffer:reported_len() - 12, buffer(10, 2):uint()
  return there >= bytes and there - bytes <= most
end

function epos_proto.dissector(buffer, pinfo, tree)
  local branch, bytes = tree:add(epos_proto, buffer()), buffer(10, 2):uint()
  branch:add(part.source, buffer(1, 1))
  branch:add(part.number, buffer(2, 2))
  branch:add(part.composition, buffer(4, 1))
  branch:add(part.message, buffer(4, 4))
  branch:add(part.index, buffer(4, 4))
  branch:add(part.last, buffer(8, 4))
  branch:add(part.communicator, buffer(9, 1))
  branch:add(part.bytes, buffer(10, 2))
  local there = buffer:len() - 12
  branch:add(part.payload, buffer(12, math.min(bytes, there)))
  if there > bytes then branch:add(part.padding, buffer(12 + bytes, there - bytes)) end
  local which = string.format("frame %d of message %d", buffer(4, 4):bitfield(18, 14), buffer(4, 4):bitfield(8, 10))
  pinfo.cols.protocol = "EPOS"
  pinfo.cols.info = string.format("%s of node %d, %d bytes", which, buffer(1, 1):uint(), bytes)
  return buffer:len()
end
guess = function(inside, most, pinfo, tree)
  if is_epos(inside, most) then epos_proto.dissector:call(inside, pinfo, tree) end
end
