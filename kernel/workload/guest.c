// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the vCPUs run: three loops in long mode, without stack, interrupts or kernel, and the page
 * tables under them. The loops are position-independent; the host copies them into the guest and
 * passes the arguments in registers.
 */
#include "guest.h"

#include <string.h>

/*
 * guest_walk: write a word in each page, around and around.
 *	rdi next address, rsi end, rbx where to go on at the end, rax value, rcx pages to write,
 *	rdx turns of an empty loop behind each write
 * guest_race: the same over a list of addresses, as fast as possible.
 *	rdi next entry, rsi end of list, rbx start of list, r8 offset of the word,
 *	rax value, rcx pages to write
 * guest_check: replace the word in each listed page; what was there must be zero.
 *	rdi next entry, rcx entries, r8 offset of the word, rax new value,
 *	returns rbx mismatches, r9 address and r10 value of the first
 *
 * All count rcx down and halt at zero, which leaves KVM_RUN. From zero rcx counts through all 64
 * bits: that is how a walk or race is endless.
 *
 * A check stores to the word's neighbour before it loads the word, so that its first access to a
 * page that is gone is a write. A load would be given the host's zero page, which the store after
 * it would have to replace, with a TLB flush on all vCPUs. (xchg is no way out: where it is
 * emulated it faults as a load first.)
 */
asm(".pushsection .rodata\n"
    ".balign 16\n"
    "guest_code:\n"
    "guest_walk:\n"
    "	mov	%rax, (%rdi)\n"
    "	inc	%rax\n"
    "	mov	%rdx, %r11\n"
    "	test	%r11, %r11\n"
    "	jz	2f\n"
    "1:	dec	%r11\n"
    "	jnz	1b\n"
    "2:	add	$4096, %rdi\n"
    "	cmp	%rsi, %rdi\n"
    "	jb	1f\n"
    "	mov	%rbx, %rdi\n"
    "1:	dec	%rcx\n"
    "	jnz	guest_walk\n"
    "	hlt\n"
    "guest_race:\n"
    "	mov	(%rdi), %rdx\n"
    "	mov	%rax, (%rdx,%r8)\n"
    "	inc	%rax\n"
    "	add	$8, %rdi\n"
    "	cmp	%rsi, %rdi\n"
    "	jb	1f\n"
    "	mov	%rbx, %rdi\n"
    "1:	dec	%rcx\n"
    "	jnz	guest_race\n"
    "	hlt\n"
    "guest_check:\n"
    "	mov	(%rdi), %rdx\n"
    "	mov	%rax, 8(%rdx,%r8)\n"
    "	mov	(%rdx,%r8), %r11\n"
    "	mov	%rax, (%rdx,%r8)\n"
    "	test	%r11, %r11\n"
    "	jz	1f\n"
    "	test	%rbx, %rbx\n"
    "	cmovz	%rdx, %r9\n"
    "	cmovz	%r11, %r10\n"
    "	inc	%rbx\n"
    "1:	add	$8, %rdi\n"
    "	dec	%rcx\n"
    "	jnz	guest_check\n"
    "	hlt\n"
    "guest_code_end:\n"
    ".popsection\n");

extern const char guest_code[], guest_walk[], guest_race[], guest_check[], guest_code_end[];

/* Offsets in the system area. One page directory maps 1 GiB, so the largest guest needs 65. */
enum {
	SYSTEM_PML4 = 0 * CHURN_PAGE,
	SYSTEM_PDPT = 1 * CHURN_PAGE,
	SYSTEM_CODE = 2 * CHURN_PAGE,
	SYSTEM_PD = 3 * CHURN_PAGE,
	SYSTEM_WATCH = 256 * CHURN_PAGE,
};

#define GIB (1024 * CHURN_MIB)
#define MAX_PDS (CHURN_MAX_MEM_MIB / 1024 + 1)

_Static_assert(SYSTEM_PD + MAX_PDS * CHURN_PAGE <= SYSTEM_WATCH, "page directories fit");
_Static_assert(SYSTEM_WATCH + CHURN_WATCH_MAX * 8 <= GUEST_SYSTEM_SIZE, "watch list fits");

/*
 * Present, writable, accessed, dirty: with the last two already there the page walk of the vCPU
 * never writes to a page table.
 */
#define PTE_TABLE 0x63ull
#define PTE_2M (PTE_TABLE | 0x80)

#define CR0_LONG_MODE 0x80050033ull /* PE MP ET NE WP AM PG */
#define CR4_PAE 0x20ull
#define EFER_LONG_MODE 0x500ull /* LME LMA */

/* Where a label is in the code. */
static size_t code_offset(const char *label)
{
	return (uintptr_t)label - (uintptr_t)guest_code;
}

static uint64_t system_gpa(uint64_t mem_bytes)
{
	return GUEST_BASE + mem_bytes;
}

/**
 * guest_system_init - fill the system area
 * @system: the host's mapping of the area, GUEST_SYSTEM_SIZE bytes of zeroes
 * @mem_bytes: size of the churned memory, within the limits of the options
 *
 * Maps guest-virtual to guest-physical one to one, in pages of 2 MiB, and copies the code.
 */
void guest_system_init(void *system, uint64_t mem_bytes)
{
	uint64_t gpa = system_gpa(mem_bytes);
	uint64_t end = gpa + GUEST_SYSTEM_SIZE;
	uint64_t *pml4 = (uint64_t *)((char *)system + SYSTEM_PML4);
	uint64_t *pdpt = (uint64_t *)((char *)system + SYSTEM_PDPT);
	uint64_t *pd = (uint64_t *)((char *)system + SYSTEM_PD);

	pml4[0] = (gpa + SYSTEM_PDPT) | PTE_TABLE;
	for (uint64_t i = 0; GUEST_BASE + i * GIB < end; i++)
		pdpt[GUEST_BASE / GIB + i] = (gpa + SYSTEM_PD + i * CHURN_PAGE) | PTE_TABLE;
	for (uint64_t i = 0; GUEST_BASE + i * CHURN_TABLE < end; i++)
		pd[i] = (GUEST_BASE + i * CHURN_TABLE) | PTE_2M;

	memcpy((char *)system + SYSTEM_CODE, guest_code, code_offset(guest_code_end));
}

/**
 * guest_watch_list - where the guest looks for the addresses of watched pages
 * @system: the host's mapping of the system area
 *
 * Return: room for CHURN_WATCH_MAX guest addresses, owned by the area. No vCPU may run a race or a
 * check while it is written.
 */
uint64_t *guest_watch_list(void *system)
{
	return (uint64_t *)((char *)system + SYSTEM_WATCH);
}

/**
 * guest_set_sregs - turn the state of a vCPU after reset into long mode
 * @sregs: as KVM_GET_SREGS gave it
 * @mem_bytes: size of the churned memory
 */
void guest_set_sregs(struct kvm_sregs *sregs, uint64_t mem_bytes)
{
	struct kvm_segment code = {
		.limit = 0xffffffff,
		.selector = 8,
		.type = 11,
		.present = 1,
		.s = 1,
		.l = 1,
		.g = 1,
	};
	struct kvm_segment data = {
		.limit = 0xffffffff,
		.selector = 16,
		.type = 3,
		.present = 1,
		.s = 1,
		.db = 1,
		.g = 1,
	};

	sregs->cs = code;
	sregs->ds = sregs->es = sregs->fs = sregs->gs = sregs->ss = data;
	sregs->cr0 = CR0_LONG_MODE;
	sregs->cr3 = system_gpa(mem_bytes) + SYSTEM_PML4;
	sregs->cr4 = CR4_PAE;
	sregs->efer = EFER_LONG_MODE;
}

static struct kvm_regs start_at(uint64_t mem_bytes, const char *entry)
{
	return (struct kvm_regs){
		.rip = system_gpa(mem_bytes) + SYSTEM_CODE + code_offset(entry),
		/*
		 * The bit that is always set, and interrupts on: none is ever injected, but
		 * where they are off, Bochs keeps the host's from ending the guest's turn, too.
		 */
		.rflags = 0x202,
	};
}

/**
 * guest_walk_regs - registers for a walk over guest memory
 * @mem_bytes: size of the churned memory
 * @writer: whose word is written
 * @start: offset of the walked range in bytes
 * @end: its end
 * @at: offset of the first page to write, in the range
 * @pages: how many pages to write before halting, 0 to walk until the vCPU is stopped
 * @work: turns of an empty loop behind each write
 *
 * Return: the registers.
 */
struct kvm_regs guest_walk_regs(uint64_t mem_bytes, unsigned int writer, uint64_t start,
				uint64_t end, uint64_t at, uint64_t pages, uint64_t work)
{
	struct kvm_regs regs = start_at(mem_bytes, guest_walk);
	uint64_t word = GUEST_BASE + GUEST_WORD(writer);

	regs.rbx = word + start;
	regs.rsi = word + end;
	regs.rdi = word + at;
	regs.rax = 1;
	regs.rcx = pages;
	regs.rdx = work;
	return regs;
}

/**
 * guest_race_regs - registers for writing the watched pages until the vCPU is stopped
 * @mem_bytes: size of the churned memory
 * @writer: whose word is written
 * @watched: entries of the watch list, at least 1
 * @at: the entry to begin with
 * @value: the first value written; counts up
 *
 * Return: the registers.
 */
struct kvm_regs guest_race_regs(uint64_t mem_bytes, unsigned int writer, size_t watched, size_t at,
				uint64_t value)
{
	struct kvm_regs regs = start_at(mem_bytes, guest_race);

	regs.rbx = system_gpa(mem_bytes) + SYSTEM_WATCH;
	regs.rsi = regs.rbx + watched * 8;
	regs.rdi = regs.rbx + at * 8;
	regs.r8 = GUEST_WORD(writer);
	regs.rax = value;
	return regs;
}

/**
 * guest_check_regs - registers for one check of the watched pages
 * @mem_bytes: size of the churned memory
 * @writer: whose word is exchanged
 * @watched: entries of the watch list, at least 1
 * @value: what the word becomes, not 0
 *
 * Return: the registers.
 */
struct kvm_regs guest_check_regs(uint64_t mem_bytes, unsigned int writer, size_t watched,
				 uint64_t value)
{
	struct kvm_regs regs = start_at(mem_bytes, guest_check);

	regs.rdi = system_gpa(mem_bytes) + SYSTEM_WATCH;
	regs.r8 = GUEST_WORD(writer);
	regs.rax = value;
	regs.rcx = watched;
	return regs;
}

/**
 * guest_check_result - read what a check found
 * @regs: the vCPU's registers after the halt
 *
 * Return: the result; @address and @value mean something only if there are mismatches.
 */
struct guest_check guest_check_result(const struct kvm_regs *regs)
{
	return (struct guest_check){
		.mismatches = regs->rbx,
		.address = regs->r9 - GUEST_BASE,
		.value = regs->r10,
	};
}
