	.text
	.file	"paths.c"
	.globl	look                            # -- Begin function look
	.p2align	4, 0x90
	.type	look,@function
look:                                   # @look
# %bb.0:
	movl	4(%esp), %eax
	movl	(%eax), %eax
	cmpl	8(%esp), %eax
	jne	.LBB0_1
# %bb.2:
	#APP
	#@again
	#NO_APP
	xorl	%eax, %eax
	retl
.LBB0_1:
	#APP
	#@off a message
	#NO_APP
	movl	$1, %eax
	retl
.Lfunc_end0:
	.size	look, .Lfunc_end0-look
                                        # -- End function
	.globl	build_header                    # -- Begin function build_header
	.p2align	4, 0x90
	.type	build_header,@function
build_header:                           # @build_header
# %bb.0:
	pushl	%edi
	pushl	%esi
	movl	24(%esp), %eax
	cmpl	$16144, %eax                    # imm = 0x3F10
	jae	.LBB1_1
# %bb.3:
	movl	20(%esp), %esi
	movl	16(%esp), %edx
	movl	12(%esp), %ecx
	movzbl	(%edx), %edi
	orl	$104202240, %edi                # imm = 0x6360000
	bswapl	%edi
	movl	%edi, (%ecx)
	shll	$16, %eax
	orl	%esi, %eax
	bswapl	%eax
	movl	%eax, 4(%ecx)
	incl	(%edx)
	movl	(%ecx), %eax
	#APP
	#@pio_write %eax
	#NO_APP
.LBB1_2:
	popl	%esi
	popl	%edi
	retl
.LBB1_1:
	#APP
	#@off too long
	#NO_APP
	jmp	.LBB1_2
.Lfunc_end1:
	.size	build_header, .Lfunc_end1-build_header
                                        # -- End function
	.ident	"Debian clang version 16.0.6 (15~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
