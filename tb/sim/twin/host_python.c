// CPU of a host and the verbs that use it, in C, for the extension module `doorway_python` (see verbs_python.c).
//
// An instruction path or a command on the CPU is one awaitable in C, where tb/bind/cpu.py has nested coroutines.
#include "doorway_python.h"

enum { SPEND_START = 0x22, SPEND_END = 0x23 };
enum { OP_STORE = 1, LINE = 32, COMBINE = 1 << 24 };   // tb/bind/cpu.py
PyObject *text_instructions;
static PyObject *text_cpu, *text_stores;

// ---------------------------------------------------------------- the host's CPU
PyObject *cpu_take(PyObject *self, PyObject *none) {
  (void)none;
  cpu *c = (cpu *)self;
  if (c->computes) return PyObject_CallMethod(self, "_displace", NULL);
  if (!c->taken) {
    c->taken = 1;
    c->since = ((kernel *)c->kernel)->now;
    return Py_NewRef(c->at_once);
  }
  PyObject *turn = (PyObject *)new_future((kernel *)c->kernel, text_cpu);
  PyObject *returned = turn ? PyObject_CallMethod(c->queue, "append", "O", turn) : NULL;
  if (!returned) Py_CLEAR(turn);
  Py_XDECREF(returned);
  PyObject *wanted = turn ? PyObject_CallMethod(self, "want", NULL) : NULL;
  if (!wanted) Py_CLEAR(turn);
  Py_XDECREF(wanted);
  return turn;
}
int leave(cpu *c) {
  const long long now = ((kernel *)c->kernel)->now;
  c->held += now - c->since;
  c->since = now;
  const Py_ssize_t waiting = PyObject_Size(c->queue);
  if (waiting <= 0 && !c->displaced) return c->taken = 0, (int)waiting;
  if (waiting <= 0) {
    PyObject *gone_on = PyObject_CallMethod((PyObject *)c, "_go_on", NULL);
    Py_XDECREF(gone_on);
    return gone_on ? 0 : -1;
  }
  PyObject *next = PyObject_CallMethod(c->queue, "popleft", NULL);
  const int failed = next ? set_future((future *)next, Py_None) : -1;
  Py_XDECREF(next);
  return failed;
}
static PyObject *cpu_leave(PyObject *self, PyObject *none) {
  (void)none;
  if (leave((cpu *)self) < 0) return NULL;
  Py_RETURN_NONE;
}
int64_t held_by(const cpu *c) { return c->held + (c->taken ? ((kernel *)c->kernel)->now - c->since : 0); }
static PyObject *cpu_held(PyObject *self, void *none) {
  (void)none;
  return PyLong_FromLongLong(held_by((const cpu *)self));
}

// Awaitable: take the CPU, wait for a time or the end of a command, leave the CPU. The value is the command's, or None.
typedef struct {
  PyObject_HEAD
  cpu *cpu;
  commands *commands;   // or NULL: wait for a time
  PyObject *why;
  future *waits;
  dw_command command;
  int64_t duration;
  int unit, path;       // of the trace; path < 0: no records
  enum { BEGINS, HAS_THE_CPU, USES_IT, OVER } state;
} use;
static PyTypeObject use_type;

static use *new_use(cpu *c, PyObject *why) {
  use *u = PyObject_New(use, &use_type);
  if (!u) return NULL;
  u->cpu = (cpu *)Py_NewRef(c);
  u->commands = NULL;
  u->why = Py_NewRef(why);
  u->waits = NULL;
  u->duration = 0;
  u->unit = 0; u->path = -1;
  u->state = BEGINS;
  return u;
}
static PySendResult use_ends(use *u, PyObject **result) {
  const int64_t now = ((kernel *)u->cpu->kernel)->now;
  if (leave(u->cpu) < 0) return PYGEN_ERROR;
  if (u->path >= 0) {   // appended at the end, so the start is `duration` earlier: readers sort by time
    dw.trace(now - u->duration, u->unit, SPEND_START, 0, u->path, u->duration);
    dw.trace(now, u->unit, SPEND_END, 0, u->path, u->duration);
  }
  *result = Py_NewRef(u->commands ? u->waits->value : Py_None);
  return PYGEN_RETURN;
}
static PySendResult use_send(PyObject *self, PyObject *sent, PyObject **result) {
  (void)sent;
  use *u = (use *)self;
  *result = NULL;
  if (u->state == BEGINS) {
    u->state = HAS_THE_CPU;
    PyObject *turn = cpu_take((PyObject *)u->cpu, NULL);
    if (!turn || !((future *)turn)->done) return *result = turn, turn ? PYGEN_NEXT : PYGEN_ERROR;
    Py_DECREF(turn);
  }
  if (u->state == HAS_THE_CPU) {
    kernel *k = (kernel *)u->cpu->kernel;
    u->state = USES_IT;
    u->waits = u->commands ? submit(u->commands, u->why, u->command) : sleep_until(k, k->now + u->duration, u->why);
    return (*result = Py_XNewRef((PyObject *)u->waits)) ? PYGEN_NEXT : PYGEN_ERROR;
  }
  if (u->state == OVER) return PyErr_SetString(PyExc_RuntimeError, "awaited twice"), PYGEN_ERROR;
  u->state = OVER;
  return use_ends(u, result);
}
static void use_end(PyObject *self) {
  use *u = (use *)self;
  Py_DECREF(u->cpu); Py_DECREF(u->why);
  Py_XDECREF(u->commands); Py_XDECREF(u->waits);
  PyObject_Free(self);
}
static PyAsyncMethods use_async = {.am_await = itself, .am_send = use_send};
static PyTypeObject use_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python.Use", .tp_basicsize = sizeof(use),
                                .tp_flags = Py_TPFLAGS_DEFAULT, .tp_dealloc = use_end, .tp_as_async = &use_async,
                                .tp_iter = itself, .tp_iternext = iternext_by_send};

VERB(cpu_run, 1, 1, "duration_ps") {
  const int64_t time = PyLong_AsLongLong(args[0]);
  if (time == -1 && PyErr_Occurred()) return NULL;
  use *u = new_use((cpu *)self, text_instructions);
  if (u) u->duration = time;
  return (PyObject *)u;
}
static PyObject *cpu_command(PyObject *self, PyObject *const *args, Py_ssize_t n) {
  if (n < 4 || n > 6) return PyErr_SetString(PyExc_TypeError, "command takes Commands, why, and 2 to 4 words of a command"), NULL;
  commands *c = commands_here(args[0]);
  dw_command command;
  if (!c || command_words(c, "command", args + 2, n - 2, &command) < 0) return NULL;
  use *u = new_use((cpu *)self, args[1]);
  if (u) {
    u->commands = (commands *)Py_NewRef(c);
    u->command = command;
  }
  return (PyObject *)u;
}
static void cpu_end(PyObject *self) {
  cpu *c = (cpu *)self;
  Py_XDECREF(c->kernel); Py_XDECREF(c->queue); Py_XDECREF(c->at_once);
  Py_TYPE(self)->tp_free(self);
}
static PyMethodDef cpu_methods[] = {{"take", cpu_take, METH_NOARGS, NULL},
                                    {"leave", cpu_leave, METH_NOARGS, NULL},
                                    METHOD("run", cpu_run),
                                    {"command", FAST(cpu_command), METH_FASTCALL, NULL},
                                    {NULL, NULL, 0, NULL}};
static PyMemberDef cpu_members[] = {{"_kernel", T_OBJECT_EX, offsetof(cpu, kernel), 0, NULL},
                                    {"_queue", T_OBJECT_EX, offsetof(cpu, queue), 0, NULL},
                                    {"_at_once", T_OBJECT_EX, offsetof(cpu, at_once), 0, NULL},
                                    {"_held", T_LONGLONG, offsetof(cpu, held), 0, NULL},
                                    {"_since", T_LONGLONG, offsetof(cpu, since), 0, NULL},
                                    {"_polls", T_LONGLONG, offsetof(cpu, polls), 0, NULL},
                                    {"_polled", T_LONGLONG, offsetof(cpu, polled), 0, NULL},
                                    {"_polls_since", T_LONGLONG, offsetof(cpu, polls_since), 0, NULL},
                                    {"_taken", T_BOOL, offsetof(cpu, taken), 0, NULL},
                                    {"_computes", T_BOOL, offsetof(cpu, computes), 0, NULL},
                                    {"_displaced", T_BOOL, offsetof(cpu, displaced), 0, NULL},
                                    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef cpu_computed[] = {{"held_ps", cpu_held, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};
PyTypeObject cpu_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python.CpuMethods", .tp_basicsize = sizeof(cpu),
                         .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .tp_new = PyType_GenericNew, .tp_dealloc = cpu_end,
                         .tp_methods = cpu_methods, .tp_members = cpu_members, .tp_getset = cpu_computed};

// ---------------------------------------------------------------- the host
static PyObject *charge(host *h, int64_t duration, int64_t path) {
  if (!h->cpu || !PyObject_TypeCheck(h->cpu, &cpu_type)) return PyErr_SetString(PyExc_TypeError, "Cpu is of this module"), NULL;
  use *u = new_use((cpu *)h->cpu, text_instructions);
  if (u) { u->duration = duration; u->unit = h->unit; u->path = (int)path; }
  return (PyObject *)u;
}
VERB(host_spend, 1, 2, "path", "times") {
  int64_t cost[2];
  if (cost_of(self, ((host *)self)->spends, "_cost", args, n, 2, cost) < 0) return NULL;
  return charge((host *)self, cost[0], cost[1]);
}
static PyObject *host_charge(PyObject *self, PyObject *args) {
  long long duration, path;
  return PyArg_ParseTuple(args, "LL", &duration, &path) ? charge((host *)self, duration, path) : NULL;
}
VERB(host_load_words, 2, 2, "address", "count") { return load_words(((host *)self)->memory, args); }
VERB(host_store_words, 2, 2, "address", "words") {
  const host *h = (const host *)self;
  PyObject *stored = store_words(h->memory, args);
  if (!stored || !h->polled || !PyObject_IsTrue(h->polled)) return stored;   // no task polls a word
  Py_DECREF(stored);
  const Py_ssize_t count = PyObject_Size(args[1]);
  return count < 0 ? NULL : PyObject_CallMethod(h->words, "stored", "On", args[0], 4 * count);
}
// A store of up to a line, or what the port does with more, none, and partial words.
VERB(host_pio_write, 2, 3, "address", "data", "combine") {
  const host *h = (const host *)self;
  PyObject *data = args[1], *combine = n > 2 ? args[2] : Py_False;
  const int64_t address = PyLong_AsLongLong(args[0]);
  const int combined = PyObject_IsTrue(combine), plain = PyMemoryView_Check(data) && PyMemoryView_GET_BUFFER(data)->itemsize == 1;
  if (combined < 0 || (address == -1 && PyErr_Occurred())) return NULL;
  Py_buffer bytes = {0};
  if ((plain || PyBytes_Check(data)) && PyObject_GetBuffer(data, &bytes, PyBUF_SIMPLE) < 0) PyErr_Clear();
  if (!bytes.obj || !bytes.len || bytes.len > LINE || bytes.len % 4 || address % 4) {
    if (bytes.obj) PyBuffer_Release(&bytes);
    return PyObject_CallMethod(h->port, "store", "OOO", args[0], data, combine);
  }
  commands *c = commands_here(h->stores);
  use *u = c && h->cpu && PyObject_TypeCheck(h->cpu, &cpu_type) ? new_use((cpu *)h->cpu, text_stores) : NULL;
  if (u) {
    u->commands = (commands *)Py_NewRef(c);
    u->command = (dw_command){.op = OP_STORE, .a = address, .b = bytes.len | (combined ? COMBINE : 0)};
    memcpy(&u->command.c, bytes.buf, (size_t)bytes.len);
  }
  PyBuffer_Release(&bytes);
  return (PyObject *)u;
}

// ---------------------------------------------------------------- numbers of messages (pymodels/messages.py)
#define BESIDE (1ll << 32)
// The place of a message that begins at a physical address. -1 with an exception.
static int place_of(const host *h, PyObject *at, PyObject **numbers, int64_t *place) {
  const int64_t address = PyLong_AsLongLong(at);
  if (address == -1 && PyErr_Occurred()) return -1;
  const int in_memory = address < h->nic_base || address >= BESIDE;
  *numbers = in_memory ? h->in_memory : h->in_sram;
  *place = in_memory ? address : (address - h->nic_base) >> PLACE;
  return 0;
}
VERB(host_put_message, 2, 2, "address", "message") {
  PyObject *numbers;
  int64_t place;
  if (place_of((host *)self, args[0], &numbers, &place) < 0 || put_number(numbers, place, args[1]) < 0) return NULL;
  Py_RETURN_NONE;
}
VERB(host_put_packet, 2, 2, "address", "message") {
  const host *h = (const host *)self;
  const int64_t address = PyLong_AsLongLong(args[0]), place = (address - h->nic_base) >> PLACE;
  if (address == -1 && PyErr_Occurred()) return NULL;
  if (put_number(h->in_sram, place - 2, args[1]) < 0 || put_number(h->in_sram, place - 1, args[1]) < 0) return NULL;
  Py_RETURN_NONE;
}
VERB(host_message_at, 1, 1, "address") {
  PyObject *numbers;
  int64_t place;
  return place_of((host *)self, args[0], &numbers, &place) < 0 ? NULL : number_at(numbers, place);
}
static PyObject *host_message(PyObject *self, PyObject *none) {
  (void)none;
  return next_number(((host *)self)->number);
}

static void host_end(PyObject *self) {
  host *h = (host *)self;
  PyObject *owned[] = {h->cpu, h->spends, h->memory, h->words, h->polled, h->port, h->stores, h->in_sram, h->in_memory, h->number};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) Py_XDECREF(owned[i]);
  Py_TYPE(self)->tp_free(self);
}
static PyMethodDef host_methods[] = {METHOD("spend", host_spend),
                                     {"_charge", host_charge, METH_VARARGS, NULL},
                                     METHOD("load_words", host_load_words),
                                     METHOD("store_words", host_store_words),
                                     METHOD("pio_write", host_pio_write),
                                     METHOD("poll", host_poll),
                                     {"message", host_message, METH_NOARGS, NULL},
                                     METHOD("put_message", host_put_message),
                                     METHOD("put_packet", host_put_packet),
                                     METHOD("message_at", host_message_at),
                                     {NULL, NULL, 0, NULL}};
static PyMemberDef host_members[] = {{"cpu", T_OBJECT_EX, offsetof(host, cpu), 0, NULL},
                                     {"_spends", T_OBJECT_EX, offsetof(host, spends), 0, NULL},
                                     {"memory", T_OBJECT_EX, offsetof(host, memory), 0, NULL},
                                     {"_words", T_OBJECT_EX, offsetof(host, words), 0, NULL},
                                     {"_polled", T_OBJECT_EX, offsetof(host, polled), 0, NULL},
                                     {"_port", T_OBJECT_EX, offsetof(host, port), 0, NULL},
                                     {"_stores", T_OBJECT_EX, offsetof(host, stores), 0, NULL},
                                     {"_in_sram", T_OBJECT_EX, offsetof(host, in_sram), 0, NULL},
                                     {"_in_memory", T_OBJECT_EX, offsetof(host, in_memory), 0, NULL},
                                     {"_number", T_OBJECT_EX, offsetof(host, number), 0, NULL},
                                     {"nic_base", T_LONGLONG, offsetof(host, nic_base), 0, NULL},
                                     {"_miss_ps", T_LONGLONG, offsetof(host, miss), 0, NULL},
                                     {"unit", T_INT, offsetof(host, unit), 0, NULL},
                                     {NULL, 0, 0, 0, NULL}};
PyTypeObject host_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python.HostMethods", .tp_basicsize = sizeof(host),
                          .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .tp_new = PyType_GenericNew, .tp_dealloc = host_end,
                          .tp_methods = host_methods, .tp_members = host_members};

int begin_host(void) {
  text_instructions = PyUnicode_InternFromString("its own instructions");
  text_cpu = PyUnicode_InternFromString("the CPU");
  text_stores = PyUnicode_InternFromString("the bridge to take its stores");
  return text_instructions && text_cpu && text_stores ? PyType_Ready(&use_type) : -1;
}
