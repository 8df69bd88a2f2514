// pymodels/kernel.py in C, for the extension module `doorway_python`: futures, tasks, alarms, and the event loop. All
// actions and their order are equal to Python's; tests/tools runs its tests of the loop on both.
//
// An awaited future costs no call of Python: the type is its own iterator, and PyIter_Send calls it directly.
#include "doorway_python.h"

static PyObject *text_time, *text_empty;

// ---------------------------------------------------------------- futures
future *new_future(kernel *k, PyObject *why) {
  future *f = PyObject_New(future, &future_type);
  if (!f) return NULL;
  f->kernel = (kernel *)Py_NewRef(k);
  f->why = Py_NewRef(why);
  f->value = NULL;
  f->first = NULL;
  f->others = NULL;
  f->done = 0;
  return f;
}

static int make_ready(kernel *k, task *t) {
  if (k->ready_count == k->ready_room) {
    const size_t room = k->ready_room ? 2 * k->ready_room : 64;
    task **ready = PyMem_New(task *, room);
    if (!ready) return PyErr_NoMemory(), -1;
    for (size_t i = 0; i < k->ready_count; i++) ready[i] = k->ready[(k->ready_first + i) & (k->ready_room - 1)];
    PyMem_Free(k->ready);
    k->ready = ready; k->ready_first = 0; k->ready_room = room;
  }
  k->ready[(k->ready_first + k->ready_count++) & (k->ready_room - 1)] = (task *)Py_NewRef(t);
  return 0;
}

int set_future(future *f, PyObject *value) {
  if (f->done) return PyErr_Format(PyExc_RuntimeError, "future set twice: %S", f->why), -1;
  f->value = Py_NewRef(value);
  f->done = 1;
  if (f->first && make_ready(f->kernel, f->first) < 0) return -1;
  Py_CLEAR(f->first);
  for (Py_ssize_t i = 0; f->others && i < PyList_GET_SIZE(f->others); i++)
    if (make_ready(f->kernel, (task *)PyList_GET_ITEM(f->others, i)) < 0) return -1;
  Py_CLEAR(f->others);
  return 0;
}

static int add_waiting(future *f, task *t) {
  if (!f->first) return f->first = (task *)Py_NewRef(t), 0;
  if (!f->others && !(f->others = PyList_New(0))) return -1;
  return PyList_Append(f->others, (PyObject *)t);
}

static PyObject *future_set(PyObject *self, PyObject *value) {
  if (set_future((future *)self, value) < 0) return NULL;
  Py_RETURN_NONE;
}
static PySendResult future_send(PyObject *self, PyObject *sent, PyObject **result) {
  (void)sent;
  const future *f = (const future *)self;
  *result = Py_NewRef(f->done ? f->value : self);
  return f->done ? PYGEN_RETURN : PYGEN_NEXT;
}
PyObject *itself(PyObject *self) { return Py_NewRef(self); }
PyObject *iternext_by_send(PyObject *self) {
  PyObject *result;
  const PySendResult how = Py_TYPE(self)->tp_as_async->am_send(self, Py_None, &result);
  if (how != PYGEN_RETURN) return how == PYGEN_NEXT ? result : NULL;
  PyObject *stop = PyObject_CallOneArg(PyExc_StopIteration, result);
  Py_DECREF(result);
  if (stop) PyErr_SetObject(PyExc_StopIteration, stop);
  Py_XDECREF(stop);
  return NULL;
}
static PyObject *future_new(PyTypeObject *type, PyObject *args, PyObject *names) {
  PyObject *k, *why = text_empty;
  (void)type; (void)names;
  return PyArg_ParseTuple(args, "O!|O", &kernel_type, &k, &why) ? (PyObject *)new_future((kernel *)k, why) : NULL;
}
static void future_end(PyObject *self) {
  future *f = (future *)self;
  Py_DECREF(f->kernel); Py_DECREF(f->why);
  Py_XDECREF(f->value); Py_XDECREF(f->first); Py_XDECREF(f->others);
  PyObject_Free(self);
}
static PyMethodDef future_methods[] = {{"set", future_set, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static PyMemberDef future_members[] = {{"done", T_BOOL, offsetof(future, done), READONLY, NULL},
                                       {"why", T_OBJECT, offsetof(future, why), READONLY, NULL},
                                       {"value", T_OBJECT_EX, offsetof(future, value), READONLY, NULL},
                                       {NULL, 0, 0, 0, NULL}};
static PyAsyncMethods future_async = {.am_await = itself, .am_send = future_send};
PyTypeObject future_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python.FutureC", .tp_basicsize = sizeof(future),
                            .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = future_new, .tp_dealloc = future_end,
                            .tp_as_async = &future_async, .tp_iter = itself, .tp_iternext = iternext_by_send,
                            .tp_methods = future_methods, .tp_members = future_members};

// ---------------------------------------------------------------- tasks
static void task_end(PyObject *self) {
  task *t = (task *)self;
  Py_DECREF(t->coroutine); Py_DECREF(t->name);
  Py_XDECREF(t->waits_for); Py_XDECREF(t->finished);
  PyObject_Free(self);
}
static PyMemberDef task_members[] = {{"name", T_OBJECT, offsetof(task, name), READONLY, NULL},
                                     {"finished", T_OBJECT, offsetof(task, finished), READONLY, NULL},
                                     {"waits_for", T_OBJECT, offsetof(task, waits_for), READONLY, NULL},
                                     {NULL, 0, 0, 0, NULL}};
PyTypeObject task_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python.TaskC", .tp_basicsize = sizeof(task),
                          .tp_flags = Py_TPFLAGS_DEFAULT, .tp_dealloc = task_end, .tp_members = task_members};

static PyObject *kernel_spawn(PyObject *self, PyObject *args) {
  kernel *k = (kernel *)self;
  PyObject *coroutine, *name;
  if (!PyArg_ParseTuple(args, "OO", &coroutine, &name)) return NULL;
  task *t = PyObject_New(task, &task_type);
  if (!t) return NULL;
  t->coroutine = Py_NewRef(coroutine);
  t->name = Py_NewRef(name);
  t->waits_for = NULL;
  PyObject *why = PyUnicode_FromFormat("end of %S", name);
  t->finished = why ? new_future(k, why) : NULL;
  Py_XDECREF(why);
  if (!t->finished || PyDict_SetItem(k->tasks, (PyObject *)t, Py_None) < 0 || make_ready(k, t) < 0) Py_CLEAR(t);
  return (PyObject *)t;
}

// A stopped task has no coroutine: the result that it waited for is ignored.
static PyObject *kernel_stop(PyObject *self, PyObject *stopped) {
  kernel *k = (kernel *)self;
  const int there = Py_TYPE(stopped) == &task_type ? PyDict_Contains(k->tasks, stopped) : 0;
  if (there < 0 || (there && PyDict_DelItem(k->tasks, stopped) < 0)) return NULL;
  if (there) {
    task *t = (task *)stopped;
    PyObject *coroutine = t->coroutine;
    t->coroutine = Py_NewRef(Py_None);
    Py_DECREF(coroutine);
  }
  Py_RETURN_NONE;
}

// ---------------------------------------------------------------- alarms
static int before(const alarm_entry *a, const alarm_entry *b) { return a->time != b->time ? a->time < b->time : a->count < b->count; }

// Steals the reference to `call`. The time is rounded up to the next odd picosecond, and never before now.
static int add_alarm(kernel *k, int64_t time, PyObject *call) {
  if (k->alarm_count == k->alarm_room) {
    const size_t room = k->alarm_room ? 2 * k->alarm_room : 64;
    alarm_entry *alarms = k->alarms;
    if (!PyMem_Resize(alarms, alarm_entry, room)) { Py_DECREF(call); return PyErr_NoMemory(), -1; }
    k->alarms = alarms; k->alarm_room = room;
  }
  const alarm_entry entry = {(time > k->now ? time : k->now) | 1, ++k->alarms_so_far, call};
  size_t at = k->alarm_count++;
  for (; at && before(&entry, &k->alarms[(at - 1) / 2]); at = (at - 1) / 2) k->alarms[at] = k->alarms[(at - 1) / 2];
  k->alarms[at] = entry;
  return 0;
}

static int fire_first(kernel *k) {
  PyObject *call = k->alarms[0].call;
  const alarm_entry last = k->alarms[--k->alarm_count];
  size_t at = 0;
  for (size_t child; (child = 2 * at + 1) < k->alarm_count; at = child) {
    if (child + 1 < k->alarm_count && before(&k->alarms[child + 1], &k->alarms[child])) child++;
    if (!before(&k->alarms[child], &last)) break;
    k->alarms[at] = k->alarms[child];
  }
  k->alarms[at] = last;
  if (Py_TYPE(call) == &future_type) {
    const int failed = set_future((future *)call, Py_None);
    Py_DECREF(call);
    return failed;
  }
  PyObject *returned = PyObject_CallNoArgs(call);
  Py_DECREF(call);
  Py_XDECREF(returned);
  return returned ? 0 : -1;
}

future *sleep_until(kernel *k, int64_t time, PyObject *why) {
  future *f = new_future(k, why);
  if (f && add_alarm(k, time, Py_NewRef(f)) < 0) Py_CLEAR(f);
  return f;
}

static PyObject *kernel_sleep(kernel *k, PyObject *const *args, Py_ssize_t n, int64_t from) {
  if (n < 1 || n > 2) return PyErr_SetString(PyExc_TypeError, "a sleep takes a time, and why"), NULL;
  const int64_t time = PyLong_AsLongLong(args[0]);
  if (time == -1 && PyErr_Occurred()) return NULL;
  return (PyObject *)sleep_until(k, from + time, n > 1 ? args[1] : text_time);
}
static PyObject *kernel_sleep_until(PyObject *self, PyObject *const *args, Py_ssize_t n) {
  return kernel_sleep((kernel *)self, args, n, 0);
}
static PyObject *kernel_sleep_for(PyObject *self, PyObject *const *args, Py_ssize_t n) {
  return kernel_sleep((kernel *)self, args, n, ((kernel *)self)->now);
}
static PyObject *kernel_at(PyObject *self, PyObject *args) {
  long long time;
  PyObject *call;
  if (!PyArg_ParseTuple(args, "LO", &time, &call) || add_alarm((kernel *)self, time, Py_NewRef(call)) < 0) return NULL;
  Py_RETURN_NONE;
}
static PyObject *kernel_next_alarm(PyObject *self, PyObject *none) {
  (void)none;
  const kernel *k = (const kernel *)self;
  if (!k->alarm_count) Py_RETURN_NONE;
  return PyLong_FromLongLong(k->alarms[0].time);
}

// ---------------------------------------------------------------- the loop
// From Python 3.11 on, the exception says which task raised it, and when.
static void add_note(const kernel *k, const task *t) {
  PyObject *type, *error, *trace, *returned = NULL;
  char time[32];
  PyErr_Fetch(&type, &error, &trace);
  PyErr_NormalizeException(&type, &error, &trace);
  PyOS_snprintf(time, sizeof time, "%.6f", (double)k->now / 1e6);
  PyObject *note = PyUnicode_FromFormat("in task %S at %s us", t->name, time);
  if (error && trace) PyException_SetTraceback(error, trace);
  if (note && error && PyObject_HasAttrString(error, "add_note")) returned = PyObject_CallMethod(error, "add_note", "O", note);
  PyErr_Clear();
  Py_XDECREF(note); Py_XDECREF(returned);
  PyErr_Restore(type, error, trace);
}

// Run a task until it suspends or ends.
static int resume(kernel *k, task *t) {
  PyObject *result;
  if (t->coroutine == Py_None) return 0;
  const PySendResult how = PyIter_Send(t->coroutine, Py_None, &result);
  int failed = 0;
  if (how == PYGEN_NEXT && Py_TYPE(result) == &future_type) {
    if (((future *)result)->done) {
      failed = make_ready(k, t);
      Py_DECREF(result);
    } else {
      failed = add_waiting((future *)result, t);
      Py_XSETREF(t->waits_for, result);
    }
    return failed;
  }
  if (how == PYGEN_NEXT) {
    PyErr_Format(PyExc_TypeError, "a task can wait for a future of its kernel, not for %R", result);
    Py_DECREF(result);
  }
  if (how == PYGEN_RETURN) {
    failed = PyDict_DelItem(k->tasks, (PyObject *)t) < 0 || set_future(t->finished, result) < 0;
    Py_DECREF(result);
    return failed ? -1 : 0;
  }
  add_note(k, t);
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  if (PyDict_DelItem(k->tasks, (PyObject *)t) < 0) PyErr_Clear();
  PyErr_Restore(type, error, trace);
  return -1;
}

int run_ready(kernel *k) {
  const int64_t now = k->now;
  for (;;) {
    while (k->alarm_count && k->alarms[0].time <= now) if (fire_first(k) < 0) return -1;
    if (!k->ready_count) return 0;
    task *t = k->ready[k->ready_first];
    k->ready_first = (k->ready_first + 1) & (k->ready_room - 1);
    k->ready_count--;
    Py_XSETREF(k->current, Py_NewRef(t));
    const int failed = resume(k, t);
    Py_DECREF(t);
    if (failed) return -1;
  }
}

static PyObject *kernel_run_ready(PyObject *self, PyObject *none) {
  (void)none;
  if (run_ready((kernel *)self) < 0) return NULL;
  Py_RETURN_NONE;
}
static PyObject *kernel_quiet_until(PyObject *self, PyObject *none) {
  (void)none;
  const kernel *k = (const kernel *)self;
  return PyLong_FromLongLong(k->ready_count ? k->now : k->alarm_count ? k->alarms[0].time : INT64_C(1) << 62);
}
static PyObject *kernel_future(PyObject *self, PyObject *const *args, Py_ssize_t n) {
  if (n > 1) return PyErr_SetString(PyExc_TypeError, "future takes why, and nothing else"), NULL;
  return (PyObject *)new_future((kernel *)self, n ? args[0] : text_empty);
}
static void kernel_end(PyObject *self) {
  kernel *k = (kernel *)self;
  while (k->ready_count) Py_DECREF(k->ready[(k->ready_first + --k->ready_count) & (k->ready_room - 1)]);
  while (k->alarm_count) Py_DECREF(k->alarms[--k->alarm_count].call);
  PyMem_Free(k->ready); PyMem_Free(k->alarms);
  Py_XDECREF(k->tasks); Py_XDECREF(k->current);
  Py_TYPE(self)->tp_free(self);
}
static PyMethodDef kernel_methods[] = {{"spawn", kernel_spawn, METH_VARARGS, NULL},
                                       {"stop", kernel_stop, METH_O, NULL},
                                       {"future", FAST(kernel_future), METH_FASTCALL, NULL},
                                       {"at", kernel_at, METH_VARARGS, NULL},
                                       {"sleep_until", FAST(kernel_sleep_until), METH_FASTCALL, NULL},
                                       {"sleep", FAST(kernel_sleep_for), METH_FASTCALL, NULL},
                                       {"next_alarm", kernel_next_alarm, METH_NOARGS, NULL},
                                       {"quiet_until", kernel_quiet_until, METH_NOARGS, NULL},
                                       {"run_ready", kernel_run_ready, METH_NOARGS, NULL},
                                       {NULL, NULL, 0, NULL}};
static PyMemberDef kernel_members[] = {{"now", T_LONGLONG, offsetof(kernel, now), 0, NULL},
                                       {"tasks", T_OBJECT_EX, offsetof(kernel, tasks), 0, NULL},
                                       {"current", T_OBJECT, offsetof(kernel, current), 0, NULL},
                                       {NULL, 0, 0, 0, NULL}};
PyTypeObject kernel_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python.KernelMethods", .tp_basicsize = sizeof(kernel),
                            .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .tp_new = PyType_GenericNew,
                            .tp_dealloc = kernel_end, .tp_methods = kernel_methods, .tp_members = kernel_members};

int begin_kernel(void) {
  text_time = PyUnicode_InternFromString("time");
  text_empty = PyUnicode_InternFromString("");
  return text_time && text_empty ? 0 : -1;
}
