-- Dissector of HPAM packets: a header, arguments, data.

local KIND = { [0] = "request", [1] = "reply" }
local hpam_proto = Proto("hpam", "HPAM message")
local part = {
  source = ProtoField.uint8("hpam.source", "Source node"),
  number = ProtoField.uint8("hpam.number", "Number of the message at its source"),
  key = ProtoField.uint32("hpam.key", "Key of the program", base.HEX),
  handler = ProtoField.uint32("hpam.handler", "Address of the handler; 0: reply without handler", base.HEX),
  kind = ProtoField.uint8("hpam.kind", "Kind", base.DEC, KIND, 0xF0),
  slot = ProtoField.uint8("hpam.slot", "Slot of the request", base.DEC, nil, 0x0F),
  arguments = ProtoField.uint8("hpam.arguments", "Arguments"),
  sequence = ProtoField.uint16("hpam.sequence", "Sequence of the request in its slot"),
  bytes = ProtoField.uint16("hpam.bytes", "Bytes of data"),
  argument = ProtoField.uint32("hpam.argument", "Argument"),
  data = ProtoField.bytes("hpam.data", "Data"),
}
local hpam_fields = {}
for _, field in pairs(part) do table.insert(hpam_fields, field) end
hpam_proto.fields = hpam_fields

function hpam_proto.dissector(buffer, pinfo, tree)
  if buffer:len() < HEADER then return 0 end
  local branch = tree:add(hpam_proto, buffer())
  local places = {
    source = { 2, 1 }, number = { 3, 1 }, key = { 4, 4 }, handler = { 8, 4 }, kind = { 12, 1 }, slot = { 12, 1 },
    arguments = { 13, 1 }, sequence = { 14, 2 }, bytes = { 16, 2 },
  }
  for name, place in pairs(places) do branch:add(part[name], buffer(place[1], place[2])) end
  local count, bytes, there = buffer(13, 1):uint(), buffer(16, 2):uint(), buffer:len() - HEADER
  for index = 0, math.min(count, math.floor(there / 4)) - 1 do branch:add(part.argument, buffer(HEADER + 4 * index, 4)) end
  local left = math.min(bytes, there - 4 * count)
  if left > 0 then branch:add(part.data, buffer(HEADER + 4 * count, left)) end
  pinfo.cols.protocol = "HPAM"
  pinfo.cols.info = string.format("%s of node %d, slot %d, sequence %d, handler 0x%x, %d arguments, %d bytes",
    KIND[buffer(12, 1):bitfield(0, 4)] or "message", buffer(2, 1):uint(), buffer(12, 1):bitfield(4, 4),
    buffer(14, 2):uint(), buffer(8, 4):uint(), count, bytes)
  return buffer:len()
end
layers:add(TYPE, hpam_proto)
