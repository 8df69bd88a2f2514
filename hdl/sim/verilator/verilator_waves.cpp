// Implementation of verilator_waves.hpp: signals are declared by the library that comes with Verilator, in a file
// without changes; the changes are then appended (change_log.hpp).
#include "verilator_waves.hpp"

#include <filesystem>
#include <map>
#include <utility>

#include "fstcpp/fstcpp_variable_info.cpp"
#include "fstcpp/fstcpp_writer.cpp"

#include "change_log.hpp"
#include "wave_clocks.hpp"

namespace {
using fst::Hierarchy;
struct Pin { int clock; bool hidden; };
std::map<std::string, Pin> pins;   // by the words of its path
VerilatedFst *drawn = nullptr;     // the file that shows clocks

Hierarchy::VarDirection direction(VerilatedTraceSigDirection way) {
  switch (way) {
    case VerilatedTraceSigDirection::INPUT: return Hierarchy::VarDirection::INPUT;
    case VerilatedTraceSigDirection::OUTPUT: return Hierarchy::VarDirection::OUTPUT;
    case VerilatedTraceSigDirection::INOUT: return Hierarchy::VarDirection::INOUT;
    default: return Hierarchy::VarDirection::IMPLICIT;
  }
}
Hierarchy::VarType type_of(VerilatedTraceSigKind kind, VerilatedTraceSigType data) {
  if (kind == VerilatedTraceSigKind::WIRE) return Hierarchy::VarType::VCD_WIRE;
  if (kind == VerilatedTraceSigKind::PARAMETER) return Hierarchy::VarType::VCD_PARAMETER;
  switch (data) {
    case VerilatedTraceSigType::INTEGER: return Hierarchy::VarType::VCD_INTEGER;
    case VerilatedTraceSigType::BIT: return Hierarchy::VarType::SV_BIT;
    case VerilatedTraceSigType::INT: return Hierarchy::VarType::SV_INT;
    case VerilatedTraceSigType::SHORTINT: return Hierarchy::VarType::SV_SHORTINT;
    case VerilatedTraceSigType::LONGINT: return Hierarchy::VarType::SV_LONGINT;
    case VerilatedTraceSigType::BYTE: return Hierarchy::VarType::SV_BYTE;
    default: return Hierarchy::VarType::SV_LOGIC;
  }
}
}  // namespace

void VerilatedFstBuffer::fullBit(uint32_t *at, CData value) {
  *at = value;
  *next_++ = numbers_[at - old_] | value * Noted::ONE;
}
void VerilatedFstBuffer::word(uint32_t *at, IData value) {
  uint32_t *const next = std::exchange(next_, next_ + 2);
  next[0] = numbers_[at - old_];
  next[1] = *at = value;
}
void VerilatedFstBuffer::quad(uint32_t *at, QData value) {
  uint32_t *const next = std::exchange(next_, next_ + 3);
  std::memcpy(at, &value, sizeof value);
  next[0] = numbers_[at - old_];
  std::memcpy(next + 1, &value, sizeof value);
}
void VerilatedFstBuffer::fullWData(uint32_t *at, const WData *value, int bits) {
  uint32_t *next = next_;
  *next++ = numbers_[at - old_];
  for (int i = 0; i < VL_WORDS_I(bits); i++) *next++ = at[i] = value[i];
  next_ = next;
}

struct VerilatedFst::File {
  File(const std::string &to, int precision) : path{to}, writer{to} {
    std::error_code error;   // the log reports a file that cannot be written
    std::filesystem::resize_file(path, fst::kSharedBlockHeaderSize + fst::HeaderInfo::total_size, error);   // the writer appends
    writer.setDate(std::string(25, ' '));   // identical runs write identical files
    writer.setTimecale(static_cast<int8_t>(precision));
    writer.setWriter("sanlab");
  }
  // No signal can be declared after the first change.
  ChangeLog &changes() {
    if (!log) {
      writer.close();
      log = std::make_unique<ChangeLog>(path, bits);
    }
    return *log;
  }

  fst::Handle &clock(int number) {
    const auto at = static_cast<size_t>(number);
    if (at >= clocks.size()) clocks.resize(at + 1);
    return clocks[at];
  }

  const std::string path;
  fst::Writer writer;
  std::vector<std::pair<std::string, bool>> scopes{{"", false}};   // prefix of a name; True if the file contains it
  const void *model = nullptr;                                     // whose signals are declared
  std::map<std::pair<const void *, int>, fst::EnumHandle> enums;
  std::map<uint32_t, fst::Handle> handles;   // by code
  std::vector<fst::Handle> clocks;           // by number; 0: not declared
  std::vector<uint32_t> bits;                // the width of each signal
  bool whole = true;                         // all is to be dumped
  std::unique_ptr<ChangeLog> log;
};

static void close_at_exit(void *trace) { static_cast<VerilatedFst *>(trace)->close(); }

VerilatedFst::VerilatedFst() = default;
VerilatedFst::~VerilatedFst() { close(); }

void VerilatedFst::open(const std::string &path) {
  file_ = std::make_unique<File>(path, precision_);
  uint32_t code = 1;
  for (const Model &model : models_) code += model.codes;
  old_.assign(code, 0);
  numbers_.assign(code, Noted::DRAWN);
  buffer_.old_ = old_.data();
  buffer_.numbers_ = numbers_.data();
  code = 1;
  for (const Model &model : models_) {
    file_->model = model.model;
    model.call(model.model, this, code);
    code += model.codes;
  }
  drawn = this;
  Verilated::addExitCb(close_at_exit, this);
}

void VerilatedFst::dump(uint64_t time) {
  ChangeLog &log = file_->changes();
  log.at(time);
  buffer_.next_ = log.next;
  for (const Dump &dump : std::exchange(file_->whole, false) ? whole_ : changed_) dump.call(dump.model, &buffer_);
  log.next = buffer_.next_;
  log.room();
  for (const Seen &seen : seen_) seen.call(seen.model, this);
}

void VerilatedFst::draw(uint64_t time, int clock, bool high) {
  const fst::Handle handle = file_->clock(clock);
  if (!handle) return;
  ChangeLog &log = file_->changes();
  log.at(time);
  *log.next++ = Noted::number(handle, 1) | (high ? Noted::ONE : 0);
  log.room();
}

void VerilatedFst::close() {
  if (drawn == this) drawn = nullptr;
  if (file_) Verilated::removeExitCb(close_at_exit, this);
  file_.reset();
}

// If a name is no scope of its own, the rest of the name follows immediately.
void VerilatedFst::pushPrefix(const char *name, VerilatedTracePrefixType type, int left, int right) {
  using Type = VerilatedTracePrefixType;
  using Scope = Hierarchy::ScopeType;
  File &file = *file_;
  const std::string before = file.scopes.back().first;
  if (!*name || (std::string{"$rootio"} == name && !before.empty())) {
    file.scopes.push_back({before, false});
    return;
  }
  const bool array = type == Type::ARRAY_PACKED || type == Type::ARRAY_UNPACKED;
  file.scopes.push_back({before + name + (array ? "" : " "), true});
  const uint64_t bounds = static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  if (array) {
    const bool packed = type == Type::ARRAY_PACKED;
    const auto kind = packed ? Hierarchy::AttrSubType::ARRAY_PACKED : Hierarchy::AttrSubType::ARRAY_UNPACKED;
    file.writer.setAttrBegin(Hierarchy::AttrType::ARRAY, kind, "bounds", bounds);
  }
  if (type == Type::STRUCT_PACKED || type == Type::STRUCT_UNPACKED || type == Type::UNION_PACKED) {
    const bool packed = type != Type::STRUCT_UNPACKED;
    const auto kind = packed ? Hierarchy::AttrSubType::PACK_PACKED : Hierarchy::AttrSubType::PACK_UNPACKED;
    file.writer.setAttrBegin(Hierarchy::AttrType::PACK, kind, "members", static_cast<uint32_t>(left));
    file.writer.setScope(type == Type::UNION_PACKED ? Scope::VCD_UNION : Scope::VCD_STRUCT, name, std::string{});
  } else {
    file.writer.setScope(array ? Scope::SV_ARRAY : Scope::VCD_MODULE, name, std::string{});
  }
}

void VerilatedFst::popPrefix() {
  if (file_->scopes.back().second) file_->writer.upscope();
  file_->scopes.pop_back();
}

void VerilatedFst::declDTypeEnum(int type, const char *name, uint32_t elements, unsigned bits, const char **names,
                                 const char **values) {
  std::vector<std::pair<const char *, const char *>> table;
  for (uint32_t i = 0; i < elements; i++) table.push_back({names[i], values[i]});
  file_->enums[{file_->model, type}] = file_->writer.createEnumTable(name, bits, table);
}

void VerilatedFst::declare(uint32_t code, const char *name, int type, Way way, Kind kind, Data data, const std::string &behind,
                           int bits) {
  File &file = *file_;
  const std::string path = file.scopes.back().first + name;
  const auto pin = pins.find(path);
  fst::Handle same = file.handles[code];
  if (!same && pin != pins.end()) {
    same = file.clock(pin->second.clock);
    if (same && pin->second.hidden) {
      file.handles[code] = same;
      return;
    }
  }
  if (type > 0) file.writer.emitEnumTableRef(file.enums.at({file.model, type}));
  if (!same) file.bits.push_back(static_cast<uint32_t>(bits));
  const std::string shown = path.substr(path.rfind(' ') + 1) + behind;
  const fst::Handle handle = file.writer.createVar(type_of(kind, data), direction(way), static_cast<uint32_t>(bits), shown, same);
  file.handles[code] = handle;
  if (pin != pins.end()) file.clock(pin->second.clock) = handle;
  else if (!same) numbers_[code] = Noted::number(handle, static_cast<uint32_t>(bits));
}

namespace wave_clocks {
void pin(const std::string &component, const std::string &name, int clock, bool hidden) {
  pins[component + " " + name] = {clock, hidden};
}
void level(int64_t time, int clock, bool high) { drawn->draw(static_cast<uint64_t>(time), clock, high); }
}  // namespace wave_clocks
