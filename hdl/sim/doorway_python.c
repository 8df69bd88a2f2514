// The doorway's hot path for Python as an extension module, `doorway_python`: what tb/sim/doorway.py does in Python where this could not
// be built, call for call with the same effect.
//
//   Giver(unit, bytes, full)   a function (op, a=0, b=0, c=0) that appends a command; `c` is a number, or up to `bytes` bytes;
//                              `full()` is called, and must raise, when the ring has no room
//   Recorder(unit, kernel)     a function (event, packet=0, argument=0, argument2=0) that appends a trace record at kernel.now
//   record(time, unit, event, packet, argument, argument2)   append a trace record
//   bind(path)                 work with the doorway library there, which is loaded already
//   drain(handlers)            hand every new event to handlers[unit](time, code, a, b); the number of events lost so far
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>
#include <stddef.h>

#include "doorway.h"

// The library, found by its path: more than one may be in a process that has no simulator.
static struct {
  dw_event *events;
  uint64_t *event_head, *event_tail, *event_lost;
  dw_command (*commands)[DW_COMMANDS];
  uint32_t *command_head, *command_tail;
  int64_t *turn;
  int *trace_on;
  void (*trace)(long long time, int unit, int event, int packet, int argument, long long argument2);
} dw;

typedef struct {
  PyObject_HEAD
  vectorcallfunc call;
  int unit, bytes;
  PyObject *other;   // of a Giver `full`, of a Recorder the kernel
} function;
static PyObject *now_name;

// The positional arguments as whole numbers, 0 where they are left out; false with an exception set.
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

static PyObject *give(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
  const function *f = (const function *)self;
  dw_command c = {0};
  int64_t value[4];
  const int with_bytes = f->bytes && PyVectorcall_NARGS(flags) == 4;
  if (!numbers("give", args, with_bytes ? 3 : flags, names, with_bytes ? 3 : 4, value)) return NULL;
  c.time = dw.turn[0]; c.op = value[0]; c.a = value[1]; c.b = value[2];
  if (with_bytes) {
    char *data;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(args[3], &data, &size) < 0) return NULL;
    memcpy(&c.c, data, (size_t)(size < f->bytes ? size : f->bytes));
  } else {
    c.c = value[3];
  }
  const uint32_t given = dw.command_head[f->unit], waiting = given - dw.command_tail[f->unit];
  if (!waiting) {   // else its clock runs already, or will when the command before ends
    dw.turn[8 + dw.turn[2]++] = f->unit;
  } else if (waiting == DW_COMMANDS) {
    PyObject *returned = PyObject_CallNoArgs(f->other);
    Py_XDECREF(returned);
    if (returned) PyErr_SetString(PyExc_SystemError, "a full ring must raise");
    return NULL;
  }
  dw.commands[f->unit][given % DW_COMMANDS] = c;
  dw.command_head[f->unit] = given + 1;
  Py_RETURN_NONE;
}

// `value`: event, packet, argument, argument2.
static PyObject *append(int64_t time, int unit, const int64_t *value) {
  if ((uint64_t)value[0] > UINT16_MAX || (uint64_t)value[1] > UINT32_MAX || (uint64_t)value[2] > UINT32_MAX) {
    PyErr_SetString(PyExc_OverflowError, "an event has 16 bits, a packet and an argument have 32");
    return NULL;
  }
  dw.trace(time, unit, (int)value[0], (int)(uint32_t)value[1], (int)(uint32_t)value[2], value[3]);
  Py_RETURN_NONE;
}

static PyObject *record(PyObject *module, PyObject *const *args, Py_ssize_t n) {
  (void)module;
  int64_t value[6];
  if (!*dw.trace_on) Py_RETURN_NONE;
  return numbers("record", args, (size_t)n, NULL, 6, value) ? append(value[0], (int)value[1], value + 2) : NULL;
}

static PyObject *record_now(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
  if (!*dw.trace_on) Py_RETURN_NONE;
  const function *f = (const function *)self;
  int64_t value[4];
  if (!numbers("trace", args, flags, names, 4, value)) return NULL;
  PyObject *now = PyObject_GetAttr(f->other, now_name);
  if (!now) return NULL;
  const int64_t time = PyLong_AsLongLong(now);
  Py_DECREF(now);
  if (time == -1 && PyErr_Occurred()) return NULL;
  return append(time, f->unit, value);
}

static PyObject *drain(PyObject *module, PyObject *handlers) {
  (void)module;
  while (*dw.event_tail != *dw.event_head) {
    const dw_event e = dw.events[*dw.event_tail % DW_EVENTS];
    const int64_t told[5] = {e.unit, e.time, e.code, e.a, e.b};
    PyObject *word[5] = {NULL}, *returned = NULL;
    int made = 0;
    while (made < 5 && (word[made] = PyLong_FromLongLong(told[made]))) made++;
    if (made == 5) {
      PyObject *handler = PyDict_GetItemWithError(handlers, word[0]);
      if (handler) returned = PyObject_Vectorcall(handler, word + 1, 4, NULL);
      else if (!PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, word[0]);
    }
    for (int i = 0; i < made; i++) Py_DECREF(word[i]);
    if (!returned) return NULL;
    Py_DECREF(returned);
    ++*dw.event_tail;
  }
  return PyLong_FromUnsignedLongLong(*dw.event_lost);
}

static PyObject *bind(PyObject *module, PyObject *path) {
  (void)module;
  const struct { const char *name; void *at; } wanted[] = {
      {"dw_events", &dw.events},             {"dw_event_head", &dw.event_head},     {"dw_event_tail", &dw.event_tail},
      {"dw_event_lost", &dw.event_lost},     {"dw_commands", &dw.commands},         {"dw_command_head", &dw.command_head},
      {"dw_command_tail", &dw.command_tail}, {"dw_turn", &dw.turn},                 {"dw_trace_on", &dw.trace_on},
      {"san_trace", &dw.trace},
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

static PyObject *made(PyTypeObject *type, vectorcallfunc call, int unit, int bytes, PyObject *other) {
  if (unit < 0 || unit >= DW_UNITS || bytes < 0 || bytes > 32) {
    PyErr_SetString(PyExc_ValueError, "no such unit, or more bytes than a command holds");
    return NULL;
  }
  function *f = (function *)type->tp_alloc(type, 0);
  if (!f) return NULL;
  f->call = call; f->unit = unit; f->bytes = bytes;
  Py_INCREF(other);
  f->other = other;
  return (PyObject *)f;
}
static PyObject *new_giver(PyTypeObject *type, PyObject *args, PyObject *names) {
  int unit, bytes;
  PyObject *full;
  (void)names;
  return PyArg_ParseTuple(args, "iiO", &unit, &bytes, &full) ? made(type, give, unit, bytes, full) : NULL;
}
static PyObject *new_recorder(PyTypeObject *type, PyObject *args, PyObject *names) {
  int unit;
  PyObject *kernel;
  (void)names;
  return PyArg_ParseTuple(args, "iO", &unit, &kernel) ? made(type, record_now, unit, 0, kernel) : NULL;
}
static void end(PyObject *self) {
  Py_XDECREF(((function *)self)->other);
  Py_TYPE(self)->tp_free(self);
}

#define FUNCTION_TYPE(name, make)                                                                             \
  {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python." name, .tp_basicsize = sizeof(function),          \
   .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, .tp_vectorcall_offset = offsetof(function, call), \
   .tp_call = PyVectorcall_Call, .tp_new = make, .tp_dealloc = end}
static PyTypeObject giver_type = FUNCTION_TYPE("Giver", new_giver), recorder_type = FUNCTION_TYPE("Recorder", new_recorder);
static PyMethodDef functions[] = {
    {"bind", bind, METH_O, NULL},
    {"drain", drain, METH_O, NULL},
    {"record", (PyCFunction)(void (*)(void))record, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "doorway_python", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit_doorway_python(void) {
  if (PyType_Ready(&giver_type) < 0 || PyType_Ready(&recorder_type) < 0) return NULL;
  now_name = PyUnicode_InternFromString("now");
  PyObject *module = now_name ? PyModule_Create(&definition) : NULL;
  if (!module) return NULL;
  if (PyModule_AddObjectRef(module, "Giver", (PyObject *)&giver_type) < 0 ||
      PyModule_AddObjectRef(module, "Recorder", (PyObject *)&recorder_type) < 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
