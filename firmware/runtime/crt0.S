! Start of a program for the LANai: after reset the processor is at address 0, where the linker places `start`. Host and program
! may communicate through the words after the jump, up to 0x40, and through those of the jump once it is executed.
	.text
	.globl	start
	.type	start,@function
start:
	bt	begin
	.long	0x00000000		! no operation, while the word is zero
	.space	56
begin:
	mov	hi(__stack), %sp
	or	%sp, lo(__stack), %sp
	or	%sp, 0x0, %fp
	mov	hi(__bss_start), %r6
	or	%r6, lo(__bss_start), %r6
	mov	hi(__bss_end), %r7
	or	%r7, lo(__bss_end), %r7
clear:					! clear .bss
	sub.f	%r6, %r7, %r0
	beq	call
	nop
	st	%r0, [%r6]
	bt	clear
	add	%r6, 0x4, %r6
call:					! the caller pushes the return address
	add	%pc, 0x10, %rca
	st	%rca, [--%sp]
	bt	main
	nop
stop:					! main has returned: final state for debuggers and simulators
	bt	stop
	nop
	.size	start, .-start
	.globl	stop
