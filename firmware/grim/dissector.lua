-- GRIM header and control messages, arguments of remote memory operations, owner of a multicast copy.

local ARGUMENTS = {  -- remote memory operations
  [0x04] = { "target", "lock", "lock value", "span" }, [0x05] = { "target", "lock", "lock value", "span" },
  [0x06] = { "remote address", "local address", "lock", "span" }, [0x07] = { "target", "the read", "bytes", "lock" },
}

local grim = Proto("grim", "GRIM message")
local word = {
  token = ProtoField.uint8("grim.token", "NI token"),
  sequence = ProtoField.uint8("grim.sequence", "NI sequence"),
  type = ProtoField.uint8("grim.type", "Message type", base.HEX, TYPES, 0xFC),
  correction = ProtoField.uint8("grim.correction", "Payload correction", base.DEC, nil, 0x03),
  tree = ProtoField.uint8("grim.tree", "Multicast tree"),
  cause = ProtoField.uint16("grim.cause", "Cause", base.DEC, CAUSES, 0x03E0),
  channel = ProtoField.uint16("grim.channel", "Channel of the message meant", base.DEC, nil, 0x001F),
  source = ProtoField.uint16("grim.source", "Source VNN"),
  source_device = ProtoField.uint8("grim.source.device", "Source device", base.DEC, DEVICES, 0x03),
  words = ProtoField.uint16("grim.words", "Payload words"),
  bytes = ProtoField.uint32("grim.bytes", "Payload bytes"),
  destination = ProtoField.uint16("grim.destination", "Destination VNN"),
  destination_device = ProtoField.uint8("grim.destination.device", "Destination device", base.DEC, DEVICES, 0x03),
  source_channel = ProtoField.uint8("grim.channel.source", "Source channel"),
  destination_channel = ProtoField.uint8("grim.channel.destination", "Destination channel"),
  handler = ProtoField.uint16("grim.handler", "Handler"),
  argument = ProtoField.int32("grim.argument", "Argument"),
  reply_token = ProtoField.uint8("grim.reply.token", "Token of the read that it replies to"),
  reply_sequence = ProtoField.uint8("grim.reply.sequence", "Sequence of the read that it replies to"),
  origin = ProtoField.uint8("grim.origin", "VNN whose multicast it copies"),
  payload = ProtoField.bytes("grim.payload", "Payload"),
  padding = ProtoField.bytes("grim.padding", "Padding"),
}
grim.fields = word
local cut = ProtoExpert.new("grim.cut", "Shorter than its header says", expert.group.MALFORMED, expert.severity.ERROR)
grim.experts = { cut }

local function name_of(type) return TYPES[type] or string.format("type 0x%02x", type) end

-- VNN of an endpoint: 8 bits, and two more in bits 2 and 3 of the device.
local function vnn(buffer, at) return buffer(at, 1):uint() + buffer(at + 1, 1):bitfield(4, 2) * 256 end

local function control(buffer, pinfo, branch, type)
  if type == 0x32 then branch:add(word.cause, buffer(4, 2)) end
  if type < 0x33 then branch:add(word.channel, buffer(4, 2)) end
  local source = vnn(buffer, 6)
  local means = type < 0x33 and string.format(" of token %d sequence %d", buffer(2, 1):uint(), buffer(3, 1):uint()) or ""
  pinfo.cols.info = string.format("%s%s from VNN %d", name_of(type), means, source)
  return buffer:len()
end

local function message(buffer, pinfo, branch, type)
  local words, correction = buffer(8, 2):uint(), buffer(4, 1):uint() % 4
  local bytes = 4 * words - correction
  local destination = type < 0x0c and vnn(buffer, 10) or buffer(10, 1):uint() -- a copy is followed by a channel
  branch:add(word.correction, buffer(4, 1))
  branch:add(word.tree, buffer(5, 1))
  branch:add(word.words, buffer(8, 2))
  branch:add(word.bytes, buffer(8, 2), bytes):set_generated()
  branch:add(word.destination, buffer(10, 2), destination)
  branch:add(word.destination_device, buffer(11, 1))
  branch:add(word.source_channel, buffer(12, 1))
  branch:add(word.destination_channel, buffer(13, 1))
  branch:add(word.handler, buffer(14, 2))
  for index = 0, 3 do
    local item, meaning = branch:add(word.argument, buffer(16 + 4 * index, 4)), (ARGUMENTS[type] or {})[index + 1]
    if meaning then item:append_text(", " .. meaning) end
  end
  local left = buffer:len() - 32
  if bytes > left then
    branch:add_proto_expert_info(cut)
    bytes = left
  end
  if bytes > 0 then branch:add(word.payload, buffer(32, bytes)) end
  if left > bytes then branch:add(word.padding, buffer(32 + bytes, left - bytes)) end
  if type == 0x07 then
    branch:add(word.reply_token, buffer(22, 1))
    branch:add(word.reply_sequence, buffer(23, 1))
  elseif type >= 0x0c then
    branch:add(word.origin, buffer(10, 1))
  end
  pinfo.cols.info = string.format(
    "%s VNN %d to %d, %d bytes, handler %d, token %d sequence %d", name_of(type), vnn(buffer, 6),
    destination, 4 * words - correction, buffer(14, 2):uint(), buffer(2, 1):uint(), buffer(3, 1):uint())
  if bytes > 0 then payload_above(buffer(32, bytes), pinfo, branch) end
  return buffer:len()
end

function grim.dissector(buffer, pinfo, tree)
  if buffer:len() < 8 then return 0 end
  pinfo.cols.protocol = "GRIM"
  local branch = tree:add(grim, buffer())
  local type = math.floor(buffer(4, 1):uint() / 4)
  branch:append_text(", " .. name_of(type))
  branch:add(word.token, buffer(2, 1))
  branch:add(word.sequence, buffer(3, 1))
  branch:add(word.type, buffer(4, 1))
  branch:add(word.source, buffer(6, 2), vnn(buffer, 6))
  branch:add(word.source_device, buffer(7, 1))
  if type >= FIRST_CONTROL then return control(buffer, pinfo, branch, type) end
  if buffer:len() < 32 then
    branch:add_proto_expert_info(cut)
    return buffer:len()
  end
  return message(buffer, pinfo, branch, type)
end
layers:add(GRIM_ID, grim)
