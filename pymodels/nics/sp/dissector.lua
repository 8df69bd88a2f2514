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
  guess(inside, 0, pinfo, tree)
  return length
end
DissectorTable.get("wtap_encap"):add(wtap.USER1, sp)
