/* What a step does when a packet turns out to be none that it takes. None of these returns into the step: the main loop begins
 * anew, on an empty stack. So the step that is likely executes what is counted, and no further checks before it. */
/* The steps of the main loop stand inline in it, as they are counted: no call, and `ni` stays in its register. What is rare stands
 * apart. */
#define INLINED inline __attribute__((always_inline))
#define APART __attribute__((noinline))
#define FLAT __attribute__((flatten))
/* Memory that is written before it is read: the start need not clear it. */
#define UNSET __attribute__((section(".bss.unset")))

#define INSTEAD(what) \
    do { \
        what; \
        serve_again(); \
    } while (0)

__attribute__((noreturn)) void serve(void);

/* The call of `serve` by crt0.S's rules, on the stack's first word. */
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

/* The packet is dropped before another buffer was armed: the same one takes the next packet. */
void begin_again(struct ni *ni, struct buffer *buffer);
/* The packet that was taken is dropped. */
void not_believed(struct ni *ni, struct buffer *buffer);
/* It is of no stream that there is here. */
void of_no_stream(struct ni *ni);
/* It is not the next of its stream, or its endpoint is not here. */
void not_taken(struct ni *ni, struct incoming *in, struct buffer *buffer, struct packet *data);
/* Its endpoint has no room. */
void no_room(struct ni *ni, struct incoming *in, struct buffer *buffer, struct packet *data);
