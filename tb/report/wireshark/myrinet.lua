-- Wireshark's eyes for packets of Myrinet: route bytes, type, CRC-8. `tb.report.dissector` puts behind it what the run's
-- network and message layer add, and leaves the whole as dissector.lua beside the packets of a run.
--
-- A layer is found by the first 16 bits of the packet type: it adds itself to the table "myrinet.layer". One whose packets
-- begin with no type sets `guess`. A layer that stands on another is found by the first 16 bits of the payload of the
-- lower one, in the table "myrinet.above".

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
local above = DissectorTable.new("myrinet.above", "Layer that stands on a message layer", ftypes.UINT16, base.HEX)

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

-- Dissects the inside of a packet, with at most so many bytes of padding, if it looks like one of the layer.
local guess = function(inside, most, pinfo, tree) end

-- The payload of a layer's packet as what a layer above put into it, where one has that type.
local function payload_above(buffer, pinfo, tree)
  local found = buffer:len() >= 2 and above:get_dissector(buffer(0, 2):uint())
  if found then found:call(buffer:tvb(), pinfo, tree) end
end

-- A layer that has only a header of whole bytes behind its 16-bit type, and a payload whose size is the field `bytes`.
-- `found`: the table in which it is found.
local function plain_layer(name, type, fields, found)
  local proto, places, shown = Proto(name .. "_layer", name .. " message"), {}, {}
  local sized = { ProtoField.uint8, ProtoField.uint16, ProtoField.uint24, ProtoField.uint32 }
  for index, one in ipairs(fields) do
    shown[index] = sized[one.size](name .. "_layer." .. one.name, one.label)
    places[one.name] = one
  end
  local payload = ProtoField.bytes(name .. "_layer.payload", "Payload")
  proto.fields = { payload, (table.unpack or unpack)(shown) }
  local last = fields[#fields]
  local header = last.at + last.size
  function proto.dissector(buffer, pinfo, tree)
    if buffer:len() < header then return 0 end
    pinfo.cols.protocol = name
    local branch, told, bytes = tree:add(proto, buffer()), {}, 0
    for index, one in ipairs(fields) do
      local range = buffer(one.at, one.size)
      branch:add(shown[index], range)
      table.insert(told, one.name .. " " .. range:uint())
      if one.name == "bytes" then bytes = range:uint() end
    end
    if bytes > 0 and bytes <= buffer:len() - header then branch:add(payload, buffer(header, bytes)) end
    pinfo.cols.info = table.concat(told, ", ")
    return buffer:len()
  end
  found:add(type, proto)
end

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
  if layer then layer:call(inside, pinfo, tree) else guess(inside, 7, pinfo, tree) end
  return length
end
DissectorTable.get("wtap_encap"):add(wtap.USER0, myrinet)

