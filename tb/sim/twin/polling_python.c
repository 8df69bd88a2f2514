// Polling of words of host memory in C, for the extension module `doorway_python` (see verbs_python.c).
//
// A loop is one awaitable in C, where tb/bind/host.py (`_poll`) and tb/bind/watch.py (`change`) have nested coroutines. A
// loop whose words may move is left to Python, which shares the slots and the lists of waiting loops with this file.
#include "doorway_python.h"

typedef struct { PyObject_HEAD PyObject *memory, *armed, *slots, *waits, *why; } watched;

// The index of the first (address, value) whose word has another value now; -1: none; -2 with an exception.
static Py_ssize_t first_difference(const watched *w, PyObject *watches) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(watches); i++) {
    PyObject *pair = PyTuple_GET_ITEM(watches, i);
    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2)
      return PyErr_SetString(PyExc_TypeError, "a watch is a tuple of an address and a value"), -2;
    const uint8_t *p = bytes_at(w->memory, PyTuple_GET_ITEM(pair, 0), 4);
    const long long old = p ? PyLong_AsLongLong(PyTuple_GET_ITEM(pair, 1)) : -1;
    if (old == -1 && PyErr_Occurred()) return -2;
    if (((long long)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]) != old) return i;
  }
  return -1;
}
VERB(watched_first_difference, 1, 1, "watches") {
  PyObject *watches = PySequence_Tuple(args[0]);
  const Py_ssize_t at = watches ? first_difference((watched *)self, watches) : -2;
  Py_XDECREF(watches);
  if (at < -1) return NULL;
  return at < 0 ? Py_NewRef(Py_None) : PyLong_FromSsize_t(at);
}
static int arm(const watched *w, PyObject *slot, uint8_t on) {
  const Py_buffer *armed = w->armed && PyMemoryView_Check(w->armed) ? PyMemoryView_GET_BUFFER(w->armed) : NULL;
  const Py_ssize_t at = PyLong_AsSsize_t(slot);
  if (!armed || at < 0 || at >= armed->len) return PyErr_SetString(PyExc_IndexError, "no such slot"), -1;
  return ((uint8_t *)armed->buf)[at] = on, 0;
}
VERB(watched_written, 2, 2, "slot", "time") {
  const watched *w = (const watched *)self;
  PyObject *waiters = PyDict_GetItemWithError(w->waits, args[0]);
  if (!waiters) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
  Py_INCREF(waiters);
  PyObject *sorted = NULL;
  int failed = PyDict_DelItem(w->waits, args[0]);
  if (!failed && PyList_GET_SIZE(waiters) > 1) {
    sorted = PyObject_CallMethod(self, "_sort", "OO", waiters, args[1]);
    failed = sorted ? 0 : -1;
  }
  for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(waiters); i++) {
    PyObject *woken = PyObject_GetAttrString(PyList_GET_ITEM(waiters, i), "woken");
    failed = woken ? ((future *)woken)->done ? 0 : set_future((future *)woken, args[1]) : -1;
    Py_XDECREF(woken);
  }
  Py_XDECREF(sorted); Py_DECREF(waiters);
  if (failed) return NULL;
  Py_RETURN_NONE;
}
static void watched_end(PyObject *self) {
  watched *w = (watched *)self;
  Py_XDECREF(w->memory); Py_XDECREF(w->armed); Py_XDECREF(w->slots); Py_XDECREF(w->waits); Py_XDECREF(w->why);
  Py_TYPE(self)->tp_free(self);
}
static PyMethodDef watched_methods[] = {METHOD("written", watched_written),
                                        METHOD("first_difference", watched_first_difference),
                                        {NULL, NULL, 0, NULL}};
static PyMemberDef watched_members[] = {{"_memory", T_OBJECT_EX, offsetof(watched, memory), 0, NULL},
                                        {"_armed", T_OBJECT_EX, offsetof(watched, armed), 0, NULL},
                                        {"_slots", T_OBJECT_EX, offsetof(watched, slots), 0, NULL},
                                        {"waits", T_OBJECT_EX, offsetof(watched, waits), 0, NULL},
                                        {"_why", T_OBJECT_EX, offsetof(watched, why), 0, NULL},
                                        {NULL, 0, 0, 0, NULL}};
PyTypeObject watched_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python.WatchedWordsMethods",
                             .tp_basicsize = sizeof(watched), .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                             .tp_new = PyType_GenericNew, .tp_dealloc = watched_end, .tp_methods = watched_methods,
                             .tp_members = watched_members};

// ---------------------------------------------------------------- a polling loop
typedef struct {
  PyObject_HEAD
  host *host;
  PyObject *watches, *path, *slots;   // slots: those armed for this loop, or NULL
  future *woken;
  int64_t look, idle, free, seen;     // idle: the loop's own clock, which stops while another task owns the CPU
  Py_ssize_t hit;
  enum { BEGINS, WATCHES, TAKES, SLEEPS, OVER } state;
} polling;

static cpu *cpu_of(const polling *p) { return (cpu *)p->host->cpu; }
static int64_t now(const polling *p) { return ((kernel *)cpu_of(p)->kernel)->now; }
// The time at which the loop, whose phase is kept, polls the changed word.
static int64_t sees(const polling *p, int64_t hit, int64_t written) {
  const int64_t turn = PyTuple_GET_SIZE(p->watches) * p->look, own = (hit + 1) * p->look;
  const int64_t spun = written - held_by(cpu_of(p)) - p->idle, left = spun - own;
  const int64_t rounds = left > 0 ? (left + turn - 1) / turn : 0;
  return written + rounds * turn + own - spun + p->host->miss;
}
static PyObject *polling_sees(PyObject *self, PyObject *args) {
  long long hit, written;
  return PyArg_ParseTuple(args, "LL", &hit, &written) ? PyLong_FromLongLong(sees((polling *)self, hit, written)) : NULL;
}

// Arm the slot of a word for the loop; the new reference is the slot. The word is now the one requested last.
static PyObject *watch(polling *p, watched *w, PyObject *address) {
  PyObject *slot = PyDict_GetItemWithError(w->slots, address);
  if (slot) {
    Py_INCREF(slot);
    if (PyDict_DelItem(w->slots, address) < 0 || PyDict_SetItem(w->slots, address, slot) < 0) Py_CLEAR(slot);
  } else if (!PyErr_Occurred()) {
    slot = PyObject_CallMethod((PyObject *)w, "_slot", "O", address);
  }
  if (!slot) return NULL;
  PyObject *waiters = PyDict_GetItemWithError(w->waits, slot);
  if (!waiters && !PyErr_Occurred() && (waiters = PyList_New(0))) {
    const int failed = PyDict_SetItem(w->waits, slot, waiters);
    Py_DECREF(waiters);
    if (failed) waiters = NULL;
  }
  if (!waiters || PyList_Append(waiters, (PyObject *)p) < 0 || arm(w, slot, 1) < 0) Py_CLEAR(slot);
  return slot;
}
// Remove the loop from a slot; disarm the slot if it was the last.
static int unwatch(polling *p, watched *w, PyObject *slot) {
  PyObject *waiters = PyDict_GetItemWithError(w->waits, slot);
  if (!waiters) return PyErr_Occurred() ? -1 : arm(w, slot, 0);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(waiters); i++)
    if (PyList_GET_ITEM(waiters, i) == (PyObject *)p) {
      if (PyList_SetSlice(waiters, i, i + 1, NULL) < 0) return -1;
      break;
    }
  if (PyList_GET_SIZE(waiters)) return 0;
  return arm(w, slot, 0) < 0 ? -1 : PyDict_DelItem(w->waits, slot);
}
static future *watch_all(polling *p, watched *w) {
  const Py_ssize_t count = PyTuple_GET_SIZE(p->watches);
  Py_XSETREF(p->woken, new_future((kernel *)cpu_of(p)->kernel, w->why));
  Py_XSETREF(p->slots, PyTuple_New(count));
  if (!p->woken || !p->slots) return NULL;
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *slot = watch(p, w, PyTuple_GET_ITEM(PyTuple_GET_ITEM(p->watches, i), 0));
    if (!slot) return NULL;
    PyTuple_SET_ITEM(p->slots, i, slot);
  }
  return (future *)Py_NewRef(p->woken);
}
static int begin(polling *p) {
  int64_t cost[2];
  cpu *c = cpu_of(p);
  if (!c || !PyObject_TypeCheck(c, &cpu_type)) return PyErr_SetString(PyExc_TypeError, "Cpu is of this module"), -1;
  if (!p->host->words || !PyObject_TypeCheck(p->host->words, &watched_type))
    return PyErr_SetString(PyExc_TypeError, "WatchedWords is of this module"), -1;
  if (cost_of((PyObject *)p->host, p->host->spends, "_cost", &p->path, 1, 2, cost) < 0) return -1;
  p->look = cost[0] > 1 ? cost[0] : 1;
  p->idle = now(p) - held_by(c);
  if (!c->polls++) c->polls_since = now(p) - held_by(c);
  p->hit = first_difference((watched *)p->host->words, p->watches);
  p->seen = now(p) + (p->hit + 1) * p->look;   // if seen in the first round
  return p->hit < -1 ? -1 : 0;
}
// A word was written: leave the slots, and find the word that has changed.
static int woken(polling *p, watched *w) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(p->slots); i++) if (unwatch(p, w, PyTuple_GET_ITEM(p->slots, i)) < 0) return -1;
  const int64_t written = PyLong_AsLongLong(p->woken->value);
  if (written == -1 && PyErr_Occurred()) return -1;
  p->hit = first_difference(w, p->watches);
  if (p->hit >= 0) p->seen = sees(p, p->hit, written);
  return p->hit < -1 ? -1 : 0;
}
static PySendResult polling_send(PyObject *self, PyObject *sent, PyObject **result) {
  (void)sent;
  polling *p = (polling *)self;
  *result = NULL;
  if (p->state == BEGINS || p->state == WATCHES) {
    if ((p->state == BEGINS ? begin(p) : woken(p, (watched *)p->host->words)) < 0) return p->state = OVER, PYGEN_ERROR;
    if (p->hit < 0) {
      p->state = WATCHES;
      return (*result = (PyObject *)watch_all(p, (watched *)p->host->words)) ? PYGEN_NEXT : PYGEN_ERROR;
    }
    p->state = TAKES;
    p->free = now(p);
    PyObject *turn = cpu_take((PyObject *)cpu_of(p), NULL);
    if (!turn || !((future *)turn)->done) return *result = turn, turn ? PYGEN_NEXT : PYGEN_ERROR;
    Py_DECREF(turn);
  }
  if (p->state == TAKES) {
    cpu *c = cpu_of(p);
    if (!--c->polls) c->polled += now(p) - held_by(c) - c->polls_since;
    p->state = SLEEPS;
    *result = (PyObject *)sleep_until((kernel *)c->kernel, p->seen + now(p) - p->free, text_instructions);
    return *result ? PYGEN_NEXT : PYGEN_ERROR;
  }
  if (p->state == OVER) return PyErr_SetString(PyExc_RuntimeError, "awaited twice"), PYGEN_ERROR;
  p->state = OVER;
  return leave(cpu_of(p)) < 0 || !(*result = PyLong_FromSsize_t(p->hit)) ? PYGEN_ERROR : PYGEN_RETURN;
}
static void polling_end(PyObject *self) {
  polling *p = (polling *)self;
  Py_DECREF(p->host); Py_DECREF(p->watches); Py_DECREF(p->path);
  Py_XDECREF(p->slots); Py_XDECREF(p->woken);
  PyObject_Free(self);
}
static PyMethodDef polling_methods[] = {{"sees", polling_sees, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyMemberDef polling_members[] = {{"watches", T_OBJECT, offsetof(polling, watches), READONLY, NULL},
                                        {"woken", T_OBJECT, offsetof(polling, woken), READONLY, NULL},
                                        {NULL, 0, 0, 0, NULL}};
static PyAsyncMethods polling_async = {.am_await = itself, .am_send = polling_send};
static PyTypeObject polling_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python.Polling",
                                    .tp_basicsize = sizeof(polling), .tp_flags = Py_TPFLAGS_DEFAULT, .tp_dealloc = polling_end,
                                    .tp_as_async = &polling_async, .tp_iter = itself, .tp_iternext = iternext_by_send,
                                    .tp_methods = polling_methods, .tp_members = polling_members};

VERB(polled, 2, 3, "watches", "path", "moves") {
  if (n > 2 && args[2] != Py_None) return PyObject_CallMethod(self, "_poll", "OOO", args[0], args[1], args[2]);
  PyObject *watches = PySequence_Tuple(args[0]);
  polling *p = watches ? PyObject_New(polling, &polling_type) : NULL;
  if (!p) return Py_XDECREF(watches), NULL;
  p->host = (host *)Py_NewRef(self);
  p->watches = watches;
  p->path = Py_NewRef(args[1]);
  p->slots = NULL;
  p->woken = NULL;
  p->state = BEGINS;
  return (PyObject *)p;
}
PyObject *host_poll(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) { return polled(self, args, n, names); }
int begin_polling(void) { return PyType_Ready(&polling_type); }
