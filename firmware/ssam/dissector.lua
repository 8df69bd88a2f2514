-- Dissector of SSAM cells: ATM header and check, then source, number and bytes left, then bytes of a message. The first
-- cell starts with the message's header. Cells have no type; a cell is recognised by its size and its check.

local KIND = { [0] = "request", [1] = "reply" }
local ssam_proto = Proto("ssam", "SSAM cell")
local part = {
  number = ProtoField.uint32("ssam.number", "Number among the cells from its source (VPI)", base.DEC, nil, 0x0FF00000),
  source = ProtoField.uint32("ssam.source", "Source node (VCI)", base.DEC, nil, 0x000FFC00),
  destination = ProtoField.uint32("ssam.destination", "Destination node, the circuit (VCI)", base.DEC, nil, 0x000003F0),
  hec = ProtoField.uint8("ssam.hec", "Check of the header (HEC)", base.HEX),
  first = ProtoField.bool("ssam.first", "A message begins", 16, nil, 0x8000),
  left = ProtoField.uint16("ssam.left", "Bytes left of the message, with this cell", base.DEC, nil, 0x7FFF),
  key = ProtoField.uint32("ssam.key", "Key of the program", base.HEX),
  handler = ProtoField.uint32("ssam.handler", "Address of the handler; 0: reply without handler", base.HEX),
  kind = ProtoField.uint8("ssam.kind", "Kind", base.DEC, KIND),
  arguments = ProtoField.uint8("ssam.arguments", "Arguments"),
  bytes = ProtoField.uint16("ssam.bytes", "Bytes of data"),
  part = ProtoField.bytes("ssam.part", "Bytes of the message"),
}
local ssam_fields = {}
for _, field in pairs(part) do table.insert(ssam_fields, field) end
ssam_proto.fields = ssam_fields

-- Return true if bytes are a cell with at most `most` bytes of padding.
local function is_cell(buffer, most)
  local there = buffer:reported_len()
  if buffer:len() < CELL or there - CELL > most or buffer(0, 1):uint() > 15 then return false end
  return syndrome(buffer(0, 4)) == xor(buffer(4, 1):uint(), COSET)
end

-- Add the fields of a message header to the tree. Return a summary.
local function message(buffer, branch)
  branch:add(part.key, buffer(0, 4))
  branch:add(part.handler, buffer(4, 4))
  branch:add(part.kind, buffer(10, 1))
  branch:add(part.arguments, buffer(11, 1))
  branch:add(part.bytes, buffer(12, 2))
  return string.format("%s, handler 0x%x, %d arguments, %d bytes", KIND[buffer(10, 1):uint()] or "message",
    buffer(4, 4):uint(), buffer(11, 1):uint(), buffer(12, 2):uint())
end

function ssam_proto.dissector(buffer, pinfo, tree)
  local branch, head, left = tree:add(ssam_proto, buffer()), buffer(0, 4), buffer(7, 2)
  for _, name in ipairs({ "number", "source", "destination" }) do branch:add(part[name], head) end
  branch:add(part.hec, buffer(4, 1))
  branch:add(part.first, left)
  branch:add(part.left, left)
  local first, size = left:bitfield(0, 1) == 1, math.min(left:bitfield(1, 15), CELL - 9)
  branch:add(part.part, buffer(9, size))
  local summary = first and size >= HEADER and message(buffer(9, size), branch) or left:bitfield(1, 15) .. " bytes left"
  pinfo.cols.protocol = "SSAM"
  pinfo.cols.info = string.format("cell %d from %d to %d: %s", head:bitfield(4, 8), head:bitfield(12, 10),
    head:bitfield(22, 6), summary)
  return buffer:len()
end
guess = function(inside, most, pinfo, tree)
  if is_cell(inside, most) then ssam_proto.dissector:call(inside, pinfo, tree) end
end
