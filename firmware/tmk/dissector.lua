-- Dissector of TreadMarks messages, or parts of them, in UDP datagrams: a header, then a body that depends on the kind.

local tmk_proto = Proto("sanlabtmk", "TreadMarks")
local part = {
  kind = ProtoField.uint8("sanlabtmk.kind", "Kind", base.DEC, KIND),
  source = ProtoField.uint8("sanlabtmk.source", "From process"),
  part = ProtoField.uint8("sanlabtmk.part", "Part of the message"),
  parts = ProtoField.uint8("sanlabtmk.parts", "Number of parts"),
  number = ProtoField.uint32("sanlabtmk.number", "Lock, barrier or page"),
  sequence = ProtoField.uint32("sanlabtmk.sequence", "Sequence number of the Request at its sender"),
  bytes = ProtoField.uint32("sanlabtmk.bytes", "Bytes behind this header"),
  asker = ProtoField.uint32("sanlabtmk.asker", "Process that requests the lock"),
  collect = ProtoField.uint32("sanlabtmk.collect", "Collection requested"),
  body = ProtoField.bytes("sanlabtmk.body", "Body"),
}
local tmk_fields = {}
for _, field in pairs(part) do table.insert(tmk_fields, field) end
tmk_proto.fields = tmk_fields
local places = {
  { "kind", 0, 1 }, { "source", 1, 1 }, { "part", 2, 1 }, { "parts", 3, 1 }, { "number", 4, 4 }, { "sequence", 8, 4 },
  { "bytes", 12, 4 },
}
local first_word = { LOCK = "asker", ARRIVAL = "collect", DEPARTURE = "collect" }

function tmk_proto.dissector(buffer, pinfo, tree)
  if buffer:len() < 16 then return 0 end
  local kind = buffer(0, 1):uint()
  local branch = tree:add(tmk_proto, buffer(0, 16))
  for _, place in ipairs(places) do branch:add(part[place[1]], buffer(place[2], place[3])) end
  local word = first_word[KIND[kind]]
  if word and buffer(2, 1):uint() == 0 and buffer:len() >= 20 then branch:add(part[word], buffer(16, 4)) end
  if buffer:len() > 16 then branch:add(part.body, buffer(16)) end
  local what = kind < RESPONSES and "Request" or "Response"
  pinfo.cols.protocol = "TMK"
  pinfo.cols.info = what .. " " .. (KIND[kind] or kind) .. " " .. buffer(4, 4):uint() .. " from " .. buffer(1, 1):uint()
  return buffer:len()
end
for _, port in ipairs({ REQUESTS_PORT, RESPONSES_PORT }) do DissectorTable.get("udp.port"):add(port, tmk_proto) end
