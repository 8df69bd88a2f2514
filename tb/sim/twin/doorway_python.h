// Shared declarations of the extension module `doorway_python`: its types in C (described in doorway_python.c).
#ifndef SANLAB_DOORWAY_PYTHON_H
#define SANLAB_DOORWAY_PYTHON_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <structmember.h>

#include "doorway.h"

// Doorway library, found by its path: a process without a simulator may have several.
typedef struct {
  dw_event *events;
  uint64_t *event_head, *event_tail, *event_lost;
  dw_command (*commands)[DW_COMMANDS];
  uint32_t *command_head, *command_tail;
  int64_t *turn;
  int *trace_on;
  int64_t (*still_until)(void);
  void (*trace)(long long time, int unit, int event, int packet, int argument, long long argument2);
  void (*trace_message)(int64_t time, int unit, int event, int packet, int argument, int64_t argument2, uint64_t message);
} doorway;
extern doorway dw;

// ---------------------------------------------------------------- kernel_python.c: pymodels/kernel.py in C
typedef struct kernel kernel;
typedef struct task task;
typedef struct {
  PyObject_HEAD
  kernel *kernel;
  PyObject *why, *value;
  task *first;        // waiting tasks, in the order of their waits
  PyObject *others;   // a list, or NULL
  char done;
} future;
struct task {
  PyObject_HEAD
  PyObject *coroutine, *name, *waits_for;
  future *finished;
};
typedef struct { int64_t time, count; PyObject *call; } alarm_entry;   // a future, or a callable
struct kernel {
  PyObject_HEAD
  long long now;
  PyObject *tasks, *current;
  task **ready;                              // a ring
  size_t ready_first, ready_count, ready_room;   // the capacity is a power of two
  alarm_entry *alarms;                       // a heap by time, then by count
  size_t alarm_count, alarm_room;
  int64_t alarms_so_far;
};
extern PyTypeObject future_type, task_type, kernel_type;
future *new_future(kernel *k, PyObject *why);                 // a new reference, or NULL
int set_future(future *f, PyObject *value);                   // -1 with an exception
future *sleep_until(kernel *k, int64_t time, PyObject *why);  // a new reference, or NULL
int run_ready(kernel *k);                                     // -1 with an exception
// initialisation before the first call; -1 with an exception
int begin_kernel(void);
PyObject *iternext_by_send(PyObject *self);                   // tp_iternext of a type that has am_send
PyObject *itself(PyObject *self);

// ---------------------------------------------------------------- doorway_python.c
typedef struct {
  PyObject_HEAD
  kernel *kernel;
  PyObject *full, *other;
  int unit, bytes;
  uint64_t ends;                     // bit c: an event of code c ends the oldest awaited command
  future *pending[2 * DW_COMMANDS];
  uint32_t asked, ended;
} commands;
extern PyTypeObject commands_type;
int put(commands *c, dw_command command);                              // -1 with an exception
future *submit(commands *c, PyObject *why, dw_command command);           // a new reference, or NULL
int command_words(const commands *c, const char *what, PyObject *const *args, Py_ssize_t n, dw_command *command);

int drain(PyObject *handlers);                                         // -1 with an exception

// ---------------------------------------------------------------- turns_python.c; verbs_python.c, host_python.c and polling_python.c: what is hot of tb/bind
extern PyTypeObject turns_type, cost_type, nic_type, loop_type, cpu_type, host_type, watched_type;
// initialisation before the first call; -1 with an exception
int begin_verbs(void);
int begin_host(void);
int begin_polling(void);
uint8_t *bytes_at(PyObject *memory, PyObject *address, Py_ssize_t size);   // NULL with an exception
int put_number(PyObject *numbers, int64_t place, PyObject *message);       // -1 with an exception
PyObject *number_at(PyObject *numbers, int64_t place);                     // NULL with an exception
PyObject *next_number(PyObject *draw);                                     // NULL with an exception
enum { PLACE = 2 };                                                    // pymodels/messages.py
commands *commands_here(PyObject *c);                                  // the same object, or NULL with an exception
PyObject *load_words(PyObject *memory, PyObject *const *args);         // arguments of a memoryview: address, count
PyObject *store_words(PyObject *memory, PyObject *const *args);        // arguments: address, words
int cost_of(PyObject *self, PyObject *costs, const char *make, PyObject *const *args, Py_ssize_t n, int count, int64_t *value);

// CPU of a host: taken by a task, used by a computation, awaited by a displaced computation.
typedef struct {
  PyObject_HEAD
  PyObject *kernel, *queue, *at_once;
  long long held, since, polls, polled, polls_since;
  char taken, computes, displaced;
} cpu;
typedef struct {
  PyObject_HEAD
  PyObject *cpu, *spends, *memory, *words, *polled, *port, *stores, *in_sram, *in_memory, *number;
  long long nic_base, miss;
  int unit;
} host;
extern PyObject *text_instructions;
int64_t held_by(const cpu *c);                                         // time that the CPU was owned so far
PyObject *cpu_take(PyObject *self, PyObject *none);
int leave(cpu *c);                                                     // -1 with an exception
PyObject *host_poll(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);

// Verb and its parameters: a method that takes them by position or by name, like the Python one.
typedef struct { const char *name; int least, most; const char *parameter[3]; } verb;
PyObject *const *by_position(const verb *v, PyObject *const *args, Py_ssize_t *n, PyObject *names, PyObject **room);
#define VERB(function, least, most, ...)                                                                       \
  static PyObject *function##_here(PyObject *self, PyObject *const *args, Py_ssize_t n);                       \
  static PyObject *function(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {            \
    static const verb v = {#function, least, most, {__VA_ARGS__}};                                             \
    PyObject *room[most];                                                                                      \
    args = by_position(&v, args, &n, names, room);                                                             \
    return args ? function##_here(self, args, n) : NULL;                                                       \
  }                                                                                                            \
  static PyObject *function##_here(PyObject *self, PyObject *const *args, __attribute__((unused)) Py_ssize_t n)
#define FAST(f) (PyCFunction)(void (*)(void))(f)   // a METH_FASTCALL method in a table
#define METHOD(name, f) {name, FAST(f), METH_FASTCALL | METH_KEYWORDS, NULL}
#endif
