// Hot verbs of tb/bind in C, for the extension module `doorway_python`: types whose methods replace those of the same
// name of the Python classes RtlNic, RtlPollLoop, Cpu and RtlHost (tb/sim/exchange.py, `combined`). Attributes of these
// classes that C needs are members here.
//
// Nic    load, store, load_words, store_words, store_on, write, read, work, post, message, put_message, message_at;
//        PollLoop: expect, run
// Host   load_words, store_words, spend, _charge, pio_write, message, put_message, put_packet, message_at;
//        Cpu: take, leave, held_ps, run, command (host_python.c)
// Host   poll; WatchedWords: written, first_difference (polling_python.c)
#include "doorway_python.h"

enum { OP_WORK = 1, OP_POLL = 2, OP_READ = 3, OP_WRITE = 4 };
static const int STEP_WORDS = sizeof(dw_step) / 4;
static PyObject *text_polling;
#define QUIET (1ll << 32)

// ---------------------------------------------------------------- arguments
// The arguments of a verb by position, whether they came so or by name: `room` takes those by name. NULL with an exception.
PyObject *const *by_position(const verb *v, PyObject *const *args, Py_ssize_t *n, PyObject *names, PyObject **room) {
  const Py_ssize_t given = *n, named = names ? PyTuple_GET_SIZE(names) : 0;
  if (given + named < v->least || given + named > v->most) {
    PyErr_Format(PyExc_TypeError, "%s takes %d to %d arguments", v->name, v->least, v->most);
    return NULL;
  }
  if (!named) return args;
  for (Py_ssize_t i = 0; i < given; i++) room[i] = args[i];
  for (Py_ssize_t i = given; i < given + named; i++) {
    Py_ssize_t at = 0;
    while (at < named && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, at), v->parameter[i])) at++;
    if (at == named) {
      PyErr_Format(PyExc_TypeError, "%s lacks the argument '%s'", v->name, v->parameter[i]);
      return NULL;
    }
    room[i] = args[given + at];
  }
  *n = given + named;
  return room;
}

// ---------------------------------------------------------------- memory: big-endian words
// The bytes at an address, or NULL with an exception.
uint8_t *bytes_at(PyObject *memory, PyObject *address, Py_ssize_t size) {
  const Py_ssize_t at = PyLong_AsSsize_t(address);
  if (at == -1 && PyErr_Occurred()) return NULL;
  if (!memory || !PyMemoryView_Check(memory)) return PyErr_SetString(PyExc_TypeError, "memory is a memoryview"), NULL;
  const Py_buffer *buffer = PyMemoryView_GET_BUFFER(memory);
  if (at < 0 || size < 0 || size > buffer->len - at) {
    char place[32];   // PyErr_Format has no hexadecimal number of this size before Python 3.12
    snprintf(place, sizeof place, "%#zx", (size_t)at);
    return PyErr_Format(PyExc_IndexError, "%zd bytes at %s, in a memory of %zd bytes", size, place, buffer->len), NULL;
  }
  return (uint8_t *)buffer->buf + at;
}
static PyObject *word(const uint8_t *p) {
  return PyLong_FromUnsignedLong((unsigned long)p[0] << 24 | (unsigned long)p[1] << 16 | (unsigned long)p[2] << 8 | p[3]);
}
static int set_word(uint8_t *p, PyObject *value) {
  const unsigned long long v = PyLong_AsUnsignedLongLong(value);
  if (v > UINT32_MAX) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_OverflowError, "a word has 32 bits");
    return -1;
  }
  p[0] = (uint8_t)(v >> 24); p[1] = (uint8_t)(v >> 16); p[2] = (uint8_t)(v >> 8); p[3] = (uint8_t)v;
  return 0;
}
PyObject *load_words(PyObject *memory, PyObject *const *args) {
  const Py_ssize_t count = PyLong_AsSsize_t(args[1]);
  if (count == -1 && PyErr_Occurred()) return NULL;
  const uint8_t *p = bytes_at(memory, args[0], count < PY_SSIZE_T_MAX / 4 ? 4 * count : PY_SSIZE_T_MAX);
  PyObject *words = p ? PyTuple_New(count) : NULL;
  for (Py_ssize_t i = 0; words && i < count; i++) {
    PyObject *value = word(p + 4 * i);
    if (value) PyTuple_SET_ITEM(words, i, value);
    else Py_CLEAR(words);
  }
  return words;
}
PyObject *store_words(PyObject *memory, PyObject *const *args) {
  PyObject *words = PySequence_Fast(args[1], "words are a sequence");
  if (!words) return NULL;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(words);
  uint8_t *p = bytes_at(memory, args[0], 4 * count);
  int failed = !p;
  for (Py_ssize_t i = 0; !failed && i < count; i++) failed = set_word(p + 4 * i, PySequence_Fast_GET_ITEM(words, i)) < 0;
  Py_DECREF(words);
  if (failed) return NULL;
  Py_RETURN_NONE;
}

// ---------------------------------------------------------------- numbers of messages by place (pymodels/messages.py)
// The number in a memoryview of 64-bit numbers, NULL for another place or mapping.
static uint64_t *in_view(PyObject *numbers, int64_t place) {
  if (!numbers || !PyMemoryView_Check(numbers)) return NULL;
  const Py_buffer *view = PyMemoryView_GET_BUFFER(numbers);
  return view->itemsize == 8 && place >= 0 && place < view->len / 8 ? (uint64_t *)view->buf + place : NULL;
}
int put_number(PyObject *numbers, int64_t place, PyObject *message) {
  uint64_t *const at = in_view(numbers, place);
  if (at) {
    const unsigned long long number = PyLong_AsUnsignedLongLong(message);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) return -1;
    return *at = number, 0;
  }
  if (!numbers) return PyErr_SetString(PyExc_AttributeError, "no numbers of messages: call note_messages first"), -1;
  PyObject *key = PyLong_FromLongLong(place);
  const int failed = key ? PyObject_SetItem(numbers, key, message) : -1;
  Py_XDECREF(key);
  return failed;
}
PyObject *number_at(PyObject *numbers, int64_t place) {
  const uint64_t *const at = in_view(numbers, place);
  if (at) return PyLong_FromUnsignedLongLong(*at);
  if (!numbers) return PyErr_SetString(PyExc_AttributeError, "no numbers of messages: call note_messages first"), NULL;
  PyObject *key = PyLong_FromLongLong(place), *number = key ? PyObject_GetItem(numbers, key) : NULL;
  Py_XDECREF(key);
  return number;
}

PyObject *next_number(PyObject *draw) {
  if (draw) return PyObject_CallNoArgs(draw);
  return PyErr_SetString(PyExc_AttributeError, "no numbers of messages: call note_messages first"), NULL;
}

// ---------------------------------------------------------------- costs
// The kept cost of a path, a tuple of `count` numbers: in `costs` by the path, or by (path, times); else made and kept by the method
// `make`.
int cost_of(PyObject *self, PyObject *costs, const char *make, PyObject *const *args, Py_ssize_t n, int count, int64_t *value) {
  PyObject *key = n > 1 ? PyTuple_Pack(2, args[0], args[1]) : Py_NewRef(args[0]);
  PyObject *kept = key ? PyDict_GetItemWithError(costs, key) : NULL, *made = NULL;
  if (key && !kept && !PyErr_Occurred()) kept = made = PyObject_CallMethod(self, make, n > 1 ? "OO" : "O", args[0], n > 1 ? args[1] : NULL);
  int failed = !kept;
  for (int i = 0; !failed && i < count; i++) {
    value[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(kept, i));
    failed = value[i] == -1 && PyErr_Occurred();
  }
  Py_XDECREF(made); Py_XDECREF(key);
  return failed ? -1 : 0;
}

// ---------------------------------------------------------------- the NIC
typedef struct {
  PyObject_HEAD
  PyObject *commands, *charges, *sram, *places, *in_memory, *number;
  long long goes_on;   // time at which the last path that is not awaited was given
} nic;

commands *commands_here(PyObject *c) {
  if (c && Py_TYPE(c) == &commands_type) return (commands *)c;
  PyErr_SetString(PyExc_TypeError, "Commands are of this module");
  return NULL;
}
VERB(nic_load, 1, 1, "address") {
  const uint8_t *p = bytes_at(((nic *)self)->sram, args[0], 4);
  return p ? word(p) : NULL;
}
VERB(nic_store, 2, 2, "address", "value") {
  uint8_t *p = bytes_at(((nic *)self)->sram, args[0], 4);
  if (!p || set_word(p, args[1]) < 0) return NULL;
  Py_RETURN_NONE;
}
VERB(nic_load_words, 2, 2, "address", "count") { return load_words(((nic *)self)->sram, args); }
VERB(nic_store_words, 2, 2, "address", "words") { return store_words(((nic *)self)->sram, args); }
VERB(nic_store_on, 2, 2, "address", "words") {
  const nic *here = (const nic *)self;
  const commands *c = commands_here(here->commands);
  if (!c) return NULL;
  if (here->goes_on != c->kernel->now) return store_words(here->sram, args);
  return PyObject_CallMethod(self, "_store_behind", "OO", args[0], args[1]);
}

VERB(nic_write, 2, 2, "register", "value") {
  commands *c = commands_here(((nic *)self)->commands);
  if (!c) return NULL;
  const int64_t address = PyLong_AsLongLong(args[0]), value = PyLong_AsLongLong(args[1]);
  if (PyErr_Occurred() || put(c, (dw_command){.op = OP_WRITE, .a = address, .b = value}) < 0) return NULL;
  Py_RETURN_NONE;
}
VERB(nic_read, 1, 1, "register") {
  commands *c = commands_here(((nic *)self)->commands);
  const int64_t at = PyLong_AsLongLong(args[0]);
  if (!c || (at == -1 && PyErr_Occurred())) return NULL;
  PyObject *why = PyUnicode_FromFormat("register 0x%x", (unsigned)at);
  PyObject *read = why ? (PyObject *)submit(c, why, (dw_command){.op = OP_READ, .a = at}) : NULL;
  Py_XDECREF(why);
  return read;
}
VERB(nic_work, 1, 2, "path", "times") {
  const nic *here = (const nic *)self;
  commands *c = commands_here(here->commands);
  int64_t cost[3];
  if (!c || cost_of(self, here->charges, "_charge", args, n, 3, cost) < 0) return NULL;
  return (PyObject *)submit(c, args[0], (dw_command){.op = OP_WORK, .a = cost[0], .b = cost[1], .c = cost[2]});
}
VERB(nic_post, 1, 1, "path") {
  const nic *here = (const nic *)self;
  commands *c = commands_here(here->commands);
  int64_t cost[3];
  if (!c || cost_of(self, here->charges, "_charge", args, n, 3, cost) < 0) return NULL;
  if (put(c, (dw_command){.op = OP_WORK, .a = cost[0], .b = cost[1], .c = cost[2] | QUIET}) < 0) return NULL;
  Py_RETURN_NONE;
}
// The place of a message that begins at args[0]: in SRAM, or in host memory if args[which] is true. -1 with an exception.
static int place_of(const nic *here, PyObject *const *args, Py_ssize_t n, Py_ssize_t which, PyObject **numbers, int64_t *place) {
  const int in_host = n > which ? PyObject_IsTrue(args[which]) : 0;
  const int64_t address = PyLong_AsLongLong(args[0]);
  if (in_host < 0 || (address == -1 && PyErr_Occurred())) return -1;
  *numbers = in_host ? here->in_memory : here->places;
  *place = in_host ? address : address >> PLACE;
  return 0;
}
VERB(nic_put_message, 2, 3, "address", "message", "in_host") {
  PyObject *numbers;
  int64_t place;
  if (place_of((nic *)self, args, n, 2, &numbers, &place) < 0 || put_number(numbers, place, args[1]) < 0) return NULL;
  Py_RETURN_NONE;
}
VERB(nic_message_at, 1, 2, "address", "in_host") {
  PyObject *numbers;
  int64_t place;
  return place_of((nic *)self, args, n, 1, &numbers, &place) < 0 ? NULL : number_at(numbers, place);
}
static PyObject *nic_message(PyObject *self, PyObject *none) {
  (void)none;
  return next_number(((nic *)self)->number);
}
static void nic_end(PyObject *self) {
  nic *here = (nic *)self;
  Py_XDECREF(here->commands); Py_XDECREF(here->charges); Py_XDECREF(here->sram);
  Py_XDECREF(here->places); Py_XDECREF(here->in_memory); Py_XDECREF(here->number);
  Py_TYPE(self)->tp_free(self);
}
static PyMethodDef nic_methods[] = {METHOD("load", nic_load),
                                    METHOD("store", nic_store),
                                    METHOD("load_words", nic_load_words),
                                    METHOD("store_words", nic_store_words),
                                    METHOD("store_on", nic_store_on),
                                    METHOD("write", nic_write),
                                    METHOD("read", nic_read),
                                    METHOD("work", nic_work),
                                    METHOD("post", nic_post),
                                    {"message", nic_message, METH_NOARGS, NULL},
                                    METHOD("put_message", nic_put_message),
                                    METHOD("message_at", nic_message_at),
                                    {NULL, NULL, 0, NULL}};
static PyMemberDef nic_members[] = {{"_commands", T_OBJECT_EX, offsetof(nic, commands), 0, NULL},
                                    {"_charges", T_OBJECT_EX, offsetof(nic, charges), 0, NULL},
                                    {"sram", T_OBJECT_EX, offsetof(nic, sram), 0, NULL},
                                    {"places", T_OBJECT_EX, offsetof(nic, places), 0, NULL},
                                    {"_in_memory", T_OBJECT_EX, offsetof(nic, in_memory), 0, NULL},
                                    {"_number", T_OBJECT_EX, offsetof(nic, number), 0, NULL},
                                    {"_goes_on", T_LONGLONG, offsetof(nic, goes_on), 0, NULL},
                                    {NULL, 0, 0, 0, NULL}};
PyTypeObject nic_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python.NicMethods", .tp_basicsize = sizeof(nic),
                         .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .tp_new = PyType_GenericNew, .tp_dealloc = nic_end,
                         .tp_methods = nic_methods, .tp_members = nic_members};

// ---------------------------------------------------------------- polling loops
typedef struct {
  PyObject_HEAD
  PyObject *commands, *steps, *hit;   // hit: the future of the last run
  long long loop, count, base;
} poll_loop;

VERB(loop_expect, 2, 2, "step", "value") {
  const poll_loop *l = (const poll_loop *)self;
  const long long step = PyLong_AsLongLong(args[0]), value = PyLong_AsLongLong(args[1]);
  if (PyErr_Occurred()) return NULL;
  if (!l->steps || !PyMemoryView_Check(l->steps)) return PyErr_SetString(PyExc_TypeError, "steps are a memoryview"), NULL;
  const Py_buffer *steps = PyMemoryView_GET_BUFFER(l->steps);
  const long long at = l->base + step * STEP_WORDS;
  if (step < 0 || 4 * at >= steps->len) return PyErr_SetString(PyExc_IndexError, "no such step"), NULL;
  ((uint32_t *)steps->buf)[at] = (uint32_t)value;
  Py_RETURN_NONE;
}
VERB(loop_run, 0, 1, "start") {
  poll_loop *l = (poll_loop *)self;
  commands *c = commands_here(l->commands);
  if (!c) return NULL;
  const int goes_on = !n || args[0] == Py_None;
  if (goes_on && (Py_TYPE(l->hit) != &future_type || !((future *)l->hit)->done))
    return PyErr_SetString(PyExc_RuntimeError, "the polling loop still runs"), NULL;
  const long long start = PyLong_AsLongLong(goes_on ? ((future *)l->hit)->value : args[0]);
  if (start == -1 && PyErr_Occurred()) return NULL;
  const dw_command command = {.op = OP_POLL, .a = l->loop, .b = l->count, .c = goes_on ? (start + 1) % l->count : start};
  PyObject *hit = (PyObject *)submit(c, text_polling, command);
  if (hit) Py_XSETREF(l->hit, Py_NewRef(hit));
  return hit;
}
static void loop_end(PyObject *self) {
  poll_loop *l = (poll_loop *)self;
  Py_XDECREF(l->commands); Py_XDECREF(l->steps); Py_XDECREF(l->hit);
  Py_TYPE(self)->tp_free(self);
}
static PyMethodDef loop_methods[] = {METHOD("expect", loop_expect), METHOD("run", loop_run), {NULL, NULL, 0, NULL}};
static PyMemberDef loop_members[] = {{"_commands", T_OBJECT_EX, offsetof(poll_loop, commands), 0, NULL},
                                     {"_steps", T_OBJECT_EX, offsetof(poll_loop, steps), 0, NULL},
                                     {"_hit", T_OBJECT_EX, offsetof(poll_loop, hit), 0, NULL},
                                     {"_loop", T_LONGLONG, offsetof(poll_loop, loop), 0, NULL},
                                     {"_count", T_LONGLONG, offsetof(poll_loop, count), 0, NULL},
                                     {"_base", T_LONGLONG, offsetof(poll_loop, base), 0, NULL},
                                     {NULL, 0, 0, 0, NULL}};
PyTypeObject loop_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python.PollLoopMethods", .tp_basicsize = sizeof(poll_loop),
                          .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .tp_new = PyType_GenericNew, .tp_dealloc = loop_end,
                          .tp_methods = loop_methods, .tp_members = loop_members};

int begin_verbs(void) {
  text_polling = PyUnicode_InternFromString("its polling loop to see something");
  return text_polling ? 0 : -1;
}
