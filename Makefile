# SPDX-License-Identifier: GPL-2.0-only
# labd: make run, make check; make help lists the rest.
#
#   O=dir      where objects and programs go (default build)
#   V=1        show commands
#   WERROR=1   warnings are errors (CI)
#   SAN=asan   or tsan: sanitizer build (use with O=)
#   DATA=dir   data directory of make run (default data)
#   ONCE=1     make run ends after the report

O       ?= build
DATA    ?= data
V       ?= 0
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
Q       := $(if $(filter 1,$(V)),,@)
say      = $(if $(filter 1,$(V)),,@printf '  %-6s %s\n' $(1) $(2))

WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wformat=2 \
	   -Wno-unused-parameter -Wno-missing-field-initializers -Wvla $(if $(WERROR),-Werror)
CFLAGS  ?= -O2 -g
, := ,
SANFLAGS := $(if $(filter asan,$(SAN)),-fsanitize=address$(,)undefined -fno-sanitize-recover=undefined) \
	    $(if $(filter tsan,$(SAN)),-fsanitize=thread)
BASE_CFLAGS := -std=gnu11 -D_GNU_SOURCE -Idaemon -I$(O)/gen -fno-strict-aliasing $(WARN) $(SANFLAGS) -MMD -MP

# Evaluated on first use, so that make run and make check can install the packages first.
pkg = $(shell pkg-config --cflags '$(1)')
lib = $(shell pkg-config $(3) --libs '$(1)')
LABD_PKGS  := sqlite3 >= 3.40 libmicrohttpd >= 0.9.75 jansson >= 2.14 nettle zlib libarchive
CTL_PKGS   := libcurl jansson >= 2.14 nettle zlib
BOCHS_PKGS := jansson >= 2.14 zlib
AGENT_PKGS := libtracefs >= 1.6 libtraceevent >= 1.7 jansson >= 2.14 zlib
ALL_PKGS   := $(LABD_PKGS) $(CTL_PKGS) $(AGENT_PKGS)

objs = $(patsubst %.c,$(O)/%.o,$(wildcard $(addsuffix /*.c,$(1))))
BASE_OBJS  := $(call objs,daemon/base)
LIB_OBJS   := $(BASE_OBJS) $(call objs,daemon/plan daemon/machine daemon/capture daemon/store daemon/stats daemon/http) \
	      $(O)/gen/embedded.o
AGENT_OBJS := $(filter-out %/sha256.o,$(BASE_OBJS)) $(call objs,daemon/agent) $(O)/daemon/capture/tracedat_write.o
BOCHS_OBJS := $(filter-out %/sha256.o,$(BASE_OBJS)) $(call objs,daemon/bochs) $(O)/daemon/machine/spawn.o
CTL_OBJS   := $(BASE_OBJS) $(call objs,daemon/ctl)
CHURN_OBJS := $(call objs,kernel/workload)

# Programs of the Xen subject, by folder of xen/workload; not a part of all, for they need Xen's libraries.
XEN_PROGRAM_churn := grant-churn
XEN_PROGRAM_fault := grant-fault
XEN_PROGRAM_net   := net
XEN_PROGRAM_guest := net-guest
XEN_DIRS     := $(foreach d,churn fault net guest,$(if $(wildcard xen/workload/$(d)/*.c),$(d)))
XEN_PROGRAMS := $(foreach d,$(XEN_DIRS),$(O)/$(XEN_PROGRAM_$(d)))
XEN_SRCS     := $(wildcard xen/workload/*/*.c)
# Parts that need nothing of Xen's: the unit tests link them.
XEN_TESTED   := $(wildcard $(addprefix xen/workload/,*/options.c guest/requests.c net/tool.c \
		common/args.c common/child.c common/iperf.c common/netdev.c common/pattern.c common/stream.c \
		common/tracing.c common/wire.c))

PROGRAMS   := $(O)/labd $(O)/labctl $(O)/lab-bochs $(O)/lab-agent $(O)/kvm-churn
UNIT_TESTS := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(wildcard tests/unit/test_*.c))

.PHONY: all run check setup kernels image xen xen-arms xen-image prove unit unit-programs functional machine bench asan tsan fuzz lint install clean help
all: $(PROGRAMS)

$(O)/labd: $(O)/daemon/labd.o $(LIB_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ $(call lib,$(LABD_PKGS)) -lm -lpthread

$(O)/labctl: $(CTL_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ $(call lib,$(CTL_PKGS))

$(O)/lab-bochs: $(BOCHS_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ $(call lib,$(BOCHS_PKGS))

# Static: the initramfs holds nothing but it and the workloads. The linker warns of dlopen() in libtraceevent,
# which is for plugins, and lab-agent loads none.
$(O)/lab-agent: $(AGENT_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(if $(SAN),$(SANFLAGS),-static -Wl$(,)--no-warnings) -o $@ $^ $(call lib,$(AGENT_PKGS),,--static) -lpthread

$(O)/kvm-churn: $(CHURN_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(if $(SAN),$(SANFLAGS),-static) -o $@ $^ -lpthread

# Xen's headers and static libraries, from Debian's packages (see xen/tools.sh).
$(O)/xen-tools: xen/tools.sh
	@mkdir -p $(@D)
	$(Q)root=$$(xen/tools.sh) && ln -sfn "$$root" $@

$(patsubst %.c,$(O)/%.o,$(filter-out $(XEN_TESTED),$(XEN_SRCS))): | $(O)/xen-tools
$(O)/xen/workload/%.o: BASE_CFLAGS += -isystem $(O)/xen-tools/usr/include

XEN_LIBS = -L$(O)/xen-tools/usr/lib/$(shell $(CC) -print-multiarch) -Wl$(,)--start-group $(addprefix -l,xenctrl \
	   xenstore xenforeignmemory xengnttab xenevtchn xendevicemodel xencall xentoollog xentoolcore) \
	   -Wl$(,)--end-group

# net reads what iperf3 prints.
XEN_LIBS_net = -ljansson

define xen_program
$(O)/$(XEN_PROGRAM_$(1)): $(call objs,xen/workload/$(1) xen/workload/common) | $(O)/xen-tools
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(CFLAGS) -static -o $$@ $$^ $$(XEN_LIBS_$(1)) $$(XEN_LIBS) -lm -lpthread
endef
$(foreach d,$(XEN_DIRS),$(eval $(call xen_program,$(d))))

# Archives: a program takes what it calls; for the tests, two programs may have functions of one name.
$(O)/xen-common.a: $(call objs,xen/workload/common)
$(O)/xen-workload.a: $(patsubst %.c,$(O)/%.o,$(XEN_TESTED))
$(O)/xen-common.a $(O)/xen-workload.a:
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(O)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) $(call pkg,$(ALL_PKGS)) -c -o $@ $<

# d3 as Debian ships it, below the licence that has to go with it.
D3 := /usr/share/nodejs/d3/dist/d3.min.js
$(O)/gen/d3.js: $(D3)
	@mkdir -p $(@D)
	$(Q)sed 's,^,// ,' /usr/share/doc/node-d3/copyright | cat - $< >$@.tmp && mv $@.tmp $@

# Served from where they are: the queries of the SQL page, and what the schedule page can start from.
SERVED := sql.md=docs/sql.md starter-kvm.json=experiments/kvm-first.json starter-xen.json=experiments/xen-grant-batch.json

$(O)/gen/embedded.c: scripts/embed.sh $(wildcard schema/*.sql web/*) $(O)/gen/d3.js $(foreach s,$(SERVED),$(lastword $(subst =, ,$(s))))
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)scripts/embed.sh schema/*.sql $(wildcard web/*) web/d3.js=$(O)/gen/d3.js $(addprefix web/,$(SERVED)) >$@.tmp && mv $@.tmp $@

$(O)/gen/embedded.o: $(O)/gen/embedded.c
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) -c -o $@ $<

# A unit test links everything that labd is made of, and the workload's and agent's parts but for their mains.
$(O)/tests/unit/%: tests/unit/%.c $(LIB_OBJS) $(filter-out %/main.o,$(CHURN_OBJS) $(AGENT_OBJS) $(BOCHS_OBJS)) $(O)/xen-workload.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) -I. $(call pkg,$(ALL_PKGS) check) -o $@ $< $(sort $(filter %.o,$^)) \
		$(O)/xen-workload.a $(call lib,$(ALL_PKGS) check) -lm -lpthread

-include $(shell find $(O) -name '*.d' 2>/dev/null)

# ---- what users and CI call -----------------------------------------------------------------------


# Installs packages only when some are missing. Everything that needs them is made by a make of its own,
# so that pkg-config is asked after the install.
setup:
	@scripts/setup

# kernels: what the shipped experiments need; KERNELS="kvm-base kvm-hint" picks some.
KERNELS ?= $(addprefix kvm-,base iterator hint scan nogate)
kernels:
	$(Q)O=$(abspath $(O)) kernel/build.sh $(KERNELS)

image: $(O)/lab-agent $(O)/kvm-churn
	$(Q)O=$(abspath $(O)) scripts/image.sh

# xen: what the experiments on Xen need besides; XEN_ARMS="xen-base xen-batch" picks some.
XEN_ARMS ?= $(addprefix xen-,base record iotlb batch)
xen: setup
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory xen-arms xen-image

xen-arms:
	$(Q)O=$(abspath $(O)) xen/build.sh $(XEN_ARMS)

# After the arms if both are made: dom0's kernel is in the image too, for domUs.
xen-image: $(O)/lab-agent $(XEN_PROGRAMS) $(if $(filter xen-arms,$(MAKECMDGOALS)),xen-arms)
	$(Q)O=$(abspath $(O)) xen/image.sh $(notdir $(XEN_PROGRAMS))

run: setup
	@$(MAKE) --no-print-directory all image
	@$(MAKE) --no-print-directory kernels KERNELS="kvm-base kvm-hint"
	@O=$(O) DATA=$(DATA) ONCE=$(ONCE) scripts/run.sh

# One prove over everything, so that its last line counts everything.
check: setup
	@$(MAKE) --no-print-directory all image unit-programs
	@$(MAKE) --no-print-directory kernels KERNELS="$(TEST_KERNELS)"
	@$(MAKE) --no-print-directory xen-arms xen-image XEN_ARMS="$(TEST_XEN)"
	@$(MAKE) --no-print-directory prove TESTS="$(UNIT_TESTS) tests/functional tests/browser tests/kernel tests/xen tests/machine"

TEST_KERNELS = $(KERNELS) kvm-noclear kvm-plain kvm-panic kvm-hang
TEST_XEN     = $(addprefix xen-,base batch noflush failflush)

TESTS ?= $(UNIT_TESTS) tests/functional
prove:
	@O=$(abspath $(O)) CK_TAP_LOG_FILE_NAME=- CK_VERBOSITY=silent prove -r --timer $(TESTS)

unit-programs: $(UNIT_TESTS)
unit: $(UNIT_TESTS)
	@$(MAKE) --no-print-directory prove TESTS="$(UNIT_TESTS)"
functional: all unit-programs
	@$(MAKE) --no-print-directory prove TESTS=tests/functional
browser: all
	@$(MAKE) --no-print-directory prove TESTS=tests/browser
machine: all image
	@$(MAKE) --no-print-directory kernels KERNELS="$(TEST_KERNELS)"
	@$(MAKE) --no-print-directory xen-arms xen-image XEN_ARMS="$(TEST_XEN)"
	@$(MAKE) --no-print-directory prove TESTS="tests/machine"

bench: all $(addprefix $(O)/tests/bench/,record bench_store bench_result)
	@O=$(O) tests/bench/store.sh

$(O)/tests/bench/%: tests/bench/%.c $(LIB_OBJS)
	$(call say,BENCH,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) $(call pkg,$(LABD_PKGS)) -o $@ $< $(LIB_OBJS) $(call lib,$(LABD_PKGS)) -lm -lpthread

# Sanitizer builds run the unit and functional tests; a finding ends the program that has it.
asan tsan:
	@$(MAKE) --no-print-directory O=build-$@ SAN=$@ CFLAGS="-O1 -g" all unit-programs
	@$(MAKE) --no-print-directory O=build-$@ SAN=$@ prove TESTS="$(patsubst $(O)/%,build-$@/%,$(UNIT_TESTS)) tests/functional"

FUZZ_SECONDS ?= 20
FUZZERS := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz: $(O)/gen/embedded.c
	@set -e; for target in $(FUZZERS); do \
		$(MAKE) --no-print-directory $(O)/fuzz/$$target; \
		scripts/fuzz.sh $(O)/fuzz/$$target $(FUZZ_SECONDS); done

FUZZ_SRCS := $(filter-out daemon/labd.c,$(wildcard $(addprefix daemon/,base/*.c plan/*.c machine/*.c capture/*.c store/*.c stats/*.c)))
$(O)/fuzz/%: tests/fuzz/%.c $(FUZZ_SRCS) $(O)/gen/embedded.c
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)clang -std=gnu11 -D_GNU_SOURCE -Idaemon -I. -g -O1 -fno-strict-aliasing -fsanitize=fuzzer,address,undefined \
		$(call pkg,$(LABD_PKGS)) -o $@ $^ $(call lib,$(LABD_PKGS)) -lm -lpthread

LINT_C = $(wildcard daemon/*.[ch] daemon/*/*.[ch] kernel/workload/*.[ch] xen/workload/*/*.[ch] tests/*/*.[ch])
lint:
	$(Q)clang-format --dry-run --Werror $(LINT_C)
	$(Q)cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		--suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches -Idaemon -j2 daemon kernel/workload \
		$(wildcard xen/workload)
	$(Q)shellcheck scripts/*.sh scripts/build/*.sh scripts/setup kernel/*.sh xen/*.sh tests/bench/*.sh tests/browser/*.sh .ci/run
	$(Q)scripts/kernel-doc.sh $(filter %.c,$(LINT_C))

PREFIX ?= /usr/local
install: all
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin $(O)/labd $(O)/labctl $(O)/lab-bochs $(O)/lab-agent $(O)/kvm-churn \
		$(wildcard $(O)/grant-churn $(O)/grant-fault $(O)/net)

clean:
	rm -rf $(O) build-asan build-tsan

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | sed -n '2,9p'
	@echo 'make run        set up, run a first experiment, serve the dashboard on 127.0.0.1:8210'
	@echo 'make check      set up, build all, pass all tests'
	@echo 'make xen        build what the experiments on Xen need'
	@echo 'make all | kernels | image | xen-arms | xen-image | unit | functional | browser | machine | bench | asan | tsan | fuzz | lint | install | clean'
