/* Continuations for packets that a step cannot take. None of them returns into the step: the main loop restarts on an
 * empty stack. So the likely step executes the counted path, without further checks before it. */
/* Steps of the main loop are inlined, as they are counted: no call, and `ni` stays in its register. Rare steps are
 * separate functions. */
#define INLINED inline __attribute__((always_inline))
#define APART __attribute__((noinline))
#define FLAT __attribute__((flatten))
/* Memory that is written before it is read and need not be cleared at the start. */
#define UNSET __attribute__((section(".bss.unset")))

#define INSTEAD(what) \
    do { \
        what; \
        serve_again(); \
    } while (0)

__attribute__((noreturn)) void serve(void);

/* Call `serve` by the rules of crt0.S, from the first word of the stack. */
__attribute__((noreturn)) static inline void serve_again(void) {
    __asm__ volatile(
        "mov hi(__stack), %sp\n\t"
        "or %sp, lo(__stack), %sp\n\t"
        "or %sp, 0x0, %fp\n\t"
        "add %pc, 0x10, %rca\n\t"
        "st %rca, [--%sp]\n\t"
        "bt serve\n\t"
        "nop");
    __builtin_unreachable();
}

/* Drop the packet before another buffer is armed; the same buffer takes the next packet. */
void begin_again(struct ni *ni, struct buffer *buffer);
/* Drop the packet that was taken. */
void not_believed(struct ni *ni, struct buffer *buffer);
/* Drop a packet of an unknown stream. */
void of_no_stream(struct ni *ni);
/* Handle a message that is not the next of its stream, or whose endpoint is unknown. */
void not_taken(struct ni *ni, struct incoming *in, struct buffer *buffer, struct packet *data);
/* Reject a message whose endpoint has no room. */
void no_room(struct ni *ni, struct incoming *in, struct buffer *buffer, struct packet *data);
