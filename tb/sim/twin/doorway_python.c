// Hot path of the doorway for Python as an extension module, `doorway_python`: equivalent, call by call, to
// tb/sim/exchange.py, tb/sim/engine.py, pymodels/kernel.py and tb/bind, which are used if the extension cannot be
// built.
//
// In this file, the exchange:
// CommandsC(unit, kernel, ends, other, bytes, full)   command ring of a unit, and the futures of its awaited commands
// RecorderC(unit, kernel)    function (event, packet=0, argument=0, argument2=0): append a trace record at kernel.now
// record(time, unit, event, packet, argument, argument2)   append a trace record
// bind(path)                 use the doorway library at this path, which is already loaded
// drain(handlers)            pass every new event to the unit's CommandsC, or to handlers[unit](time, code, a, b);
//                            return the number of lost events so far
// TurnsC, CostC              calls of the simulator for a turn of Python: turns_python.c
// In kernel_python.c: FutureC, TaskC. A type whose name ends with Methods replaces the hot methods of one Python class,
// in a subclass of it (tb/sim/compiled.py): KernelMethods, NicMethods and PollLoopMethods (verbs_python.c), CpuMethods
// and HostMethods (host_python.c), WatchedWordsMethods (polling_python.c).
#include "doorway_python.h"

#include <dlfcn.h>

doorway dw;

typedef struct {
  PyObject_HEAD
  vectorcallfunc call;
  int unit;
  kernel *kernel;
} recorder;
static commands *commands_of[DW_UNITS];   // receivers of a unit's events; borrowed references

// Convert the positional arguments to integers, 0 for missing ones; false with an exception set.
static int numbers(const char *what, PyObject *const *args, size_t flags, PyObject *names, int most, int64_t *value) {
  Py_ssize_t n = PyVectorcall_NARGS(flags);
  if (n < 1 || n > most || (names && PyTuple_GET_SIZE(names))) {
    PyErr_Format(PyExc_TypeError, "%s takes 1 to %d positional arguments", what, most);
    return 0;
  }
  for (int i = 0; i < most; i++) {
    value[i] = i < n ? PyLong_AsLongLong(args[i]) : 0;
    if (value[i] == -1 && PyErr_Occurred()) return 0;
  }
  return 1;
}

// ---------------------------------------------------------------- commands
int put(commands *c, dw_command command) {
  const uint32_t given = dw.command_head[c->unit], waiting = given - dw.command_tail[c->unit];
  if (!waiting) {   // otherwise its clock runs already, or will when the previous command ends
    dw.turn[8 + dw.turn[2]++] = c->unit;
  } else if (waiting == DW_COMMANDS) {
    PyObject *returned = PyObject_CallNoArgs(c->full);
    Py_XDECREF(returned);
    if (returned) PyErr_SetString(PyExc_SystemError, "a full ring must raise");
    return -1;
  }
  command.time = dw.turn[0];
  dw.commands[c->unit][given % DW_COMMANDS] = command;
  dw.command_head[c->unit] = given + 1;
  return 0;
}

enum { PENDING = sizeof ((commands *)0)->pending / sizeof(future *) };

future *submit(commands *c, PyObject *why, dw_command command) {
  if (c->asked - c->ended == PENDING) return PyErr_SetString(PyExc_SystemError, "too many commands wait for their end"), NULL;
  future *f = put(c, command) < 0 ? NULL : new_future(c->kernel, why);
  if (f) c->pending[c->asked++ % PENDING] = (future *)Py_NewRef(f);
  return f;
}

// The oldest awaited command has ended with a value.
static int end_command(commands *c, PyObject *value) {
  if (c->asked == c->ended) return PyErr_SetString(PyExc_IndexError, "no command waits for its end"), -1;
  future *f = c->pending[c->ended++ % PENDING];
  const int failed = set_future(f, value);
  Py_DECREF(f);
  return failed;
}

// Convert op, a, b, and c: an integer, or up to `bytes` bytes.
int command_words(const commands *c, const char *what, PyObject *const *args, Py_ssize_t n, dw_command *command) {
  int64_t value[4];
  const int with_bytes = c->bytes && n == 4;
  if (!numbers(what, args, with_bytes ? 3 : (size_t)n, NULL, with_bytes ? 3 : 4, value)) return -1;
  *command = (dw_command){.op = value[0], .a = value[1], .b = value[2]};
  if (with_bytes) {
    char *data;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(args[3], &data, &size) < 0) return -1;
    memcpy(&command->c, data, (size_t)(size < c->bytes ? size : c->bytes));
  } else {
    command->c = value[3];
  }
  return 0;
}

static PyObject *commands_give(PyObject *self, PyObject *const *args, Py_ssize_t n) {
  commands *c = (commands *)self;
  dw_command command;
  if (command_words(c, "give", args, n, &command) < 0 || put(c, command) < 0) return NULL;
  Py_RETURN_NONE;
}
static PyObject *commands_submit(PyObject *self, PyObject *const *args, Py_ssize_t n) {
  commands *c = (commands *)self;
  dw_command command;
  if (n < 2) return PyErr_SetString(PyExc_TypeError, "submit takes why, and the words of a command"), NULL;
  return command_words(c, "submit", args + 1, n - 1, &command) < 0 ? NULL : (PyObject *)submit(c, args[0], command);
}
static PyObject *commands_new(PyTypeObject *type, PyObject *args, PyObject *names) {
  int unit, bytes;
  PyObject *k, *ends, *other, *full;
  (void)names;
  if (!PyArg_ParseTuple(args, "iO!O!OiO", &unit, &kernel_type, &k, &PyTuple_Type, &ends, &other, &bytes, &full)) return NULL;
  if (unit < 0 || unit >= DW_UNITS || bytes < 0 || bytes > 32)
    return PyErr_SetString(PyExc_ValueError, "no such unit, or more bytes than a command holds"), NULL;
  commands *c = (commands *)type->tp_alloc(type, 0);
  if (!c) return NULL;
  c->kernel = (kernel *)Py_NewRef(k);
  c->other = Py_NewRef(other);
  c->full = Py_NewRef(full);
  c->unit = unit;
  c->bytes = bytes;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(ends); i++) c->ends |= 1ull << PyLong_AsLong(PyTuple_GET_ITEM(ends, i));
  commands_of[unit] = c;
  return PyErr_Occurred() ? NULL : (PyObject *)c;
}
static void commands_end(PyObject *self) {
  commands *c = (commands *)self;
  if (commands_of[c->unit] == c) commands_of[c->unit] = NULL;
  while (c->ended != c->asked) Py_DECREF(c->pending[c->ended++ % PENDING]);
  Py_XDECREF(c->kernel); Py_XDECREF(c->other); Py_XDECREF(c->full);
  Py_TYPE(self)->tp_free(self);
}
static PyMethodDef commands_methods[] = {
    {"give", FAST(commands_give), METH_FASTCALL, NULL},
    {"submit", FAST(commands_submit), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
PyTypeObject commands_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python.CommandsC", .tp_basicsize = sizeof(commands),
                              .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = commands_new, .tp_dealloc = commands_end,
                              .tp_methods = commands_methods};

// ---------------------------------------------------------------- trace
// `value`: event, packet, argument, argument2, message.
static PyObject *append(int64_t time, int unit, const int64_t *value) {
  if ((uint64_t)value[0] > UINT16_MAX || (uint64_t)value[1] > UINT32_MAX || (uint64_t)value[2] > UINT32_MAX) {
    PyErr_SetString(PyExc_OverflowError, "an event has 16 bits, a packet and an argument have 32");
    return NULL;
  }
  dw.trace_message(time, unit, (int)value[0], (int)(uint32_t)value[1], (int)(uint32_t)value[2], value[3], (uint64_t)value[4]);
  Py_RETURN_NONE;
}

static PyObject *record(PyObject *module, PyObject *const *args, Py_ssize_t n) {
  (void)module;
  int64_t value[7] = {0};
  if (n != 6) return PyErr_SetString(PyExc_TypeError, "record takes 6 arguments"), NULL;
  if (!*dw.trace_on) Py_RETURN_NONE;
  return numbers("record", args, (size_t)n, NULL, 6, value) ? append(value[0], (int)value[1], value + 2) : NULL;
}

static PyObject *record_now(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
  if (!*dw.trace_on) Py_RETURN_NONE;
  const recorder *f = (const recorder *)self;
  int64_t value[5] = {0};
  static PyObject *message;   // as most names of arguments are, interned
  if (!message && !(message = PyUnicode_InternFromString("message"))) return NULL;
  PyObject *const name = names && PyTuple_GET_SIZE(names) == 1 ? PyTuple_GET_ITEM(names, 0) : NULL;
  if (name && (name == message || PyUnicode_CompareWithASCIIString(name, "message") == 0)) {
    value[4] = PyLong_AsLongLong(args[PyVectorcall_NARGS(flags)]);
    if (value[4] < 0) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_OverflowError, "a message has a number from 0 on");
    names = NULL;
  }
  return numbers("trace", args, flags, names, 4, value) ? append(f->kernel->now, f->unit, value) : NULL;
}
static PyObject *recorder_new(PyTypeObject *type, PyObject *args, PyObject *names) {
  int unit;
  PyObject *k;
  (void)names;
  if (!PyArg_ParseTuple(args, "iO!", &unit, &kernel_type, &k)) return NULL;
  recorder *f = (recorder *)type->tp_alloc(type, 0);
  if (!f) return NULL;
  f->call = record_now; f->unit = unit;
  f->kernel = (kernel *)Py_NewRef(k);
  return (PyObject *)f;
}
static void recorder_end(PyObject *self) {
  Py_XDECREF(((recorder *)self)->kernel);
  Py_TYPE(self)->tp_free(self);
}
static PyTypeObject recorder_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python.RecorderC", .tp_basicsize = sizeof(recorder),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, .tp_vectorcall_offset = offsetof(recorder, call),
    .tp_call = PyVectorcall_Call, .tp_new = recorder_new, .tp_dealloc = recorder_end};

// ---------------------------------------------------------------- events
static int tell(PyObject *handler, const dw_event *e) {
  const int64_t told[4] = {e->time, e->code, e->a, e->b};
  PyObject *word[4] = {NULL}, *returned = NULL;
  int made = 0;
  while (made < 4 && (word[made] = PyLong_FromLongLong(told[made]))) made++;
  if (made == 4) returned = PyObject_Vectorcall(handler, word, 4, NULL);
  for (int i = 0; i < made; i++) Py_DECREF(word[i]);
  Py_XDECREF(returned);
  return returned ? 0 : -1;
}

// Pass an event of a unit without Commands to the unit's handler in a dict; KeyError if there is none.
static int tell_handler(PyObject *handlers, const dw_event *e) {
  PyObject *unit = PyLong_FromLongLong(e->unit);
  PyObject *handler = unit ? PyDict_GetItemWithError(handlers, unit) : NULL;
  if (unit && !handler && !PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, unit);
  Py_XDECREF(unit);
  return handler ? tell(handler, e) : -1;
}

int drain(PyObject *handlers) {
  while (*dw.event_tail != *dw.event_head) {
    const dw_event e = dw.events[*dw.event_tail % DW_EVENTS];
    commands *c = (uint64_t)e.unit < DW_UNITS ? commands_of[e.unit] : NULL;
    int failed;
    if (!c) {
      failed = tell_handler(handlers, &e);
    } else if (e.code < 64 && c->ends >> e.code & 1) {
      PyObject *value = PyLong_FromLongLong(e.a);
      failed = value ? end_command(c, value) : -1;
      Py_XDECREF(value);
    } else {
      failed = tell(c->other, &e);
    }
    if (failed < 0) return -1;
    ++*dw.event_tail;
  }
  return 0;
}
static PyObject *drain_all(PyObject *module, PyObject *handlers) {
  (void)module;
  return drain(handlers) < 0 ? NULL : PyLong_FromUnsignedLongLong(*dw.event_lost);
}

// ---------------------------------------------------------------- the module
static PyObject *bind(PyObject *module, PyObject *path) {
  (void)module;
  const struct { const char *name; void *at; } wanted[] = {
      {"dw_events", &dw.events},             {"dw_event_head", &dw.event_head},     {"dw_event_tail", &dw.event_tail},
      {"dw_event_lost", &dw.event_lost},     {"dw_commands", &dw.commands},         {"dw_command_head", &dw.command_head},
      {"dw_command_tail", &dw.command_tail}, {"dw_turn", &dw.turn},                 {"dw_trace_on", &dw.trace_on},
      {"san_trace", &dw.trace},              {"dw_trace_message", &dw.trace_message}, {"dw_still_until", &dw.still_until},
  };
  const char *text = PyUnicode_AsUTF8(path);
  if (!text) return NULL;
  void *library = dlopen(text, RTLD_NOW | RTLD_NOLOAD);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    void *symbol = library ? dlsym(library, wanted[i].name) : NULL;
    if (!symbol) return PyErr_Format(PyExc_ImportError, "%s has no %s", text, wanted[i].name);
    memcpy(wanted[i].at, &symbol, sizeof symbol);
  }
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"bind", bind, METH_O, NULL},
    {"drain", drain_all, METH_O, NULL},
    {"record", FAST(record), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "doorway_python", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit_doorway_python(void) {
  if (begin_kernel() < 0 || begin_verbs() < 0 || begin_host() < 0 || begin_polling() < 0) return NULL;
  const struct { const char *name; PyTypeObject *type; } types[] = {
      {"KernelMethods", &kernel_type}, {"NicMethods", &nic_type}, {"PollLoopMethods", &loop_type},
      {"CpuMethods", &cpu_type},       {"HostMethods", &host_type}, {"FutureC", &future_type},
      {"TaskC", &task_type},           {"CommandsC", &commands_type}, {"RecorderC", &recorder_type},
      {"TurnsC", &turns_type},         {"CostC", &cost_type}, {"WatchedWordsMethods", &watched_type},
  };
  PyObject *module = PyModule_Create(&definition);
  for (size_t i = 0; module && i < sizeof types / sizeof *types; i++)
    if (PyType_Ready(types[i].type) < 0 || PyModule_AddObjectRef(module, types[i].name, (PyObject *)types[i].type) < 0) Py_CLEAR(module);
  return module;
}
