// Turns of Python at the simulator's wake-ups, for the extension module `doorway_python`: the function `turn` of
// tb/sim/engine.py in C.
//
// Cost()   .python_wakes, .wall_python_s, .wall_rtl_s
// Turns(handlers, lost, kernel, finished, cost, hang_ps, beat, hang, still)   callable: run one turn; False when
// `finished` is done
// .callback(failed, over)   address for `dw_set_python`; failed(error) is called for a turn that raises, over() after
// the last
#include <time.h>

#include "doorway_python.h"

enum { HEARTBEAT = 1024 };   // turns between two calls of `beat`

typedef struct {
  PyObject_HEAD
  long long wakes;
  double python_s, rtl_s;
} cost;
static PyMemberDef cost_members[] = {{"python_wakes", T_LONGLONG, offsetof(cost, wakes), 0, NULL},
                                     {"wall_python_s", T_DOUBLE, offsetof(cost, python_s), 0, NULL},
                                     {"wall_rtl_s", T_DOUBLE, offsetof(cost, rtl_s), 0, NULL},
                                     {NULL, 0, 0, 0, NULL}};
PyTypeObject cost_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python.CostC", .tp_basicsize = sizeof(cost),
                          .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = PyType_GenericNew, .tp_members = cost_members};

typedef struct {
  PyObject_HEAD
  kernel *kernel;
  PyObject *handlers, *beat, *hang, *lost, *failed, *over;
  future *finished;
  cost *cost;
  int64_t hang_ps, limit;
  uint64_t times;
  int still;   // time may advance within a turn
  double left;
} turns;
static turns *current;   // called by the simulator; owned

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int called(PyObject *function, const char *format, long long value) {
  PyObject *returned = PyObject_CallFunction(function, format, value);
  Py_XDECREF(returned);
  return returned ? 0 : -1;
}

// Set the current time.
static int begin_time(turns *t, int64_t now) {
  t->kernel->now = dw.turn[0] = now;
  return ++t->times % HEARTBEAT ? 0 : called(t->beat, "L", now);
}

// Run one step. -1: an exception is set; 0: the turn is over; 1: it continues.
static int take_turn(turns *t) {
  const double entered = seconds();
  kernel *k = t->kernel;
  t->cost->rtl_s += entered - t->left;
  t->cost->wakes++;
  if (begin_time(t, dw.turn[0]) < 0) return -1;
  if (t->limit && k->now >= t->limit) return called(t->hang, NULL, 0), -1;   // raises an exception
  if (drain(t->handlers) < 0) return -1;
  if (*dw.event_lost && called(t->lost, "L", (long long)*dw.event_lost) < 0) return -1;
  int64_t next;
  for (;;) {
    if (run_ready(k) < 0) return -1;
    const int64_t latest = k->now + t->hang_ps;
    t->limit = k->alarm_count ? 0 : latest;
    next = k->alarm_count && k->alarms[0].time < latest ? k->alarms[0].time : latest;
    if (!t->still || t->limit || t->finished->done || next >= dw.still_until()) break;
    if (begin_time(t, next) < 0) return -1;
  }
  dw.turn[1] = t->finished->done ? 0 : next;
  t->left = seconds();
  t->cost->python_s += t->left - entered;
  return !t->finished->done;
}

static PyObject *turns_call(PyObject *self, PyObject *args, PyObject *names) {
  if (PyTuple_GET_SIZE(args) || (names && PyDict_GET_SIZE(names)))
    return PyErr_SetString(PyExc_TypeError, "a turn takes no arguments"), NULL;
  const int goes_on = take_turn((turns *)self);
  return goes_on < 0 ? NULL : PyBool_FromLong(goes_on);
}

// Callback of the simulator. An exception must not reach it, and is passed to `failed`.
static void wake(void) {
  const PyGILState_STATE state = PyGILState_Ensure();
  turns *t = (turns *)Py_NewRef(current);
  const int goes_on = take_turn(t);
  if (goes_on < 0) {
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (trace) PyException_SetTraceback(error, trace);
    PyObject *returned = PyObject_CallOneArg(t->failed, error);
    if (!returned) PyErr_Print();
    Py_XDECREF(returned); Py_XDECREF(type); Py_XDECREF(error); Py_XDECREF(trace);
  }
  if (goes_on <= 0 && called(t->over, NULL, 0) < 0) PyErr_Print();
  Py_DECREF(t);
  PyGILState_Release(state);
}

static PyObject *turns_callback(PyObject *self, PyObject *args) {
  turns *t = (turns *)self;
  PyObject *failed, *over;
  if (!PyArg_ParseTuple(args, "OO", &failed, &over)) return NULL;
  Py_XSETREF(t->failed, Py_NewRef(failed));
  Py_XSETREF(t->over, Py_NewRef(over));
  Py_XSETREF(current, (turns *)Py_NewRef(t));
  return PyLong_FromVoidPtr((void *)wake);
}

static PyObject *turns_new(PyTypeObject *type, PyObject *args, PyObject *names) {
  PyObject *k, *handlers, *finished, *spent, *beat, *hang, *lost, *still;
  long long hang_ps;
  (void)names;
  if (!PyArg_ParseTuple(args, "O!OO!O!O!LOOO", &PyDict_Type, &handlers, &lost, &kernel_type, &k, &future_type, &finished, &cost_type,
                        &spent, &hang_ps, &beat, &hang, &still)) return NULL;
  turns *t = (turns *)type->tp_alloc(type, 0);
  if (!t) return NULL;
  t->kernel = (kernel *)Py_NewRef(k);
  t->handlers = Py_NewRef(handlers);
  t->finished = (future *)Py_NewRef(finished);
  t->cost = (cost *)Py_NewRef(spent);
  t->beat = Py_NewRef(beat); t->hang = Py_NewRef(hang); t->lost = Py_NewRef(lost);
  t->hang_ps = hang_ps;
  t->still = still != Py_None;
  t->left = seconds();
  return (PyObject *)t;
}
static void turns_end(PyObject *self) {
  turns *t = (turns *)self;
  Py_DECREF(t->kernel); Py_DECREF(t->handlers); Py_DECREF(t->finished); Py_DECREF(t->cost);
  Py_DECREF(t->beat); Py_DECREF(t->hang); Py_DECREF(t->lost);
  Py_XDECREF(t->failed); Py_XDECREF(t->over);
  Py_TYPE(self)->tp_free(self);
}
static PyMethodDef turns_methods[] = {{"callback", turns_callback, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
PyTypeObject turns_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "doorway_python.TurnsC", .tp_basicsize = sizeof(turns),
                           .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = turns_new, .tp_dealloc = turns_end, .tp_call = turns_call,
                           .tp_methods = turns_methods};
