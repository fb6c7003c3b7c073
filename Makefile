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
SANFLAGS := $(if $(filter asan,$(SAN)),-fsanitize=address$(,)undefined -fno-sanitize-recover=undefined) \
	    $(if $(filter tsan,$(SAN)),-fsanitize=thread)
, := ,
BASE_CFLAGS := -std=gnu11 -D_GNU_SOURCE -Idaemon -I$(O)/gen -fno-strict-aliasing $(WARN) $(SANFLAGS) -MMD -MP

# Evaluated on first use, so that make run and make check can install the packages first.
pkg = $(shell pkg-config --cflags $(1))
lib = $(shell pkg-config $(3) --libs $(1))
LABD_PKGS  := libtraceevent >= 1.7 sqlite3 >= 3.40 libmicrohttpd >= 0.9.75 jansson >= 2.14 nettle zlib
CTL_PKGS   := libcurl jansson >= 2.14 nettle zlib
AGENT_PKGS := libtracefs >= 1.6 libtraceevent >= 1.7 jansson >= 2.14 zlib
ALL_PKGS   := $(LABD_PKGS) $(CTL_PKGS) $(AGENT_PKGS)

objs = $(patsubst %.c,$(O)/%.o,$(wildcard $(addsuffix /*.c,$(1))))
BASE_OBJS  := $(call objs,daemon/base)
LIB_OBJS   := $(BASE_OBJS) $(call objs,daemon/plan daemon/machine daemon/capture daemon/store daemon/stats daemon/http) \
	      $(O)/gen/embedded.o
AGENT_OBJS := $(filter-out %/sha256.o,$(BASE_OBJS)) $(call objs,daemon/agent) $(O)/daemon/capture/tracedat_write.o
CTL_OBJS   := $(BASE_OBJS) $(call objs,daemon/ctl)
CHURN_OBJS := $(call objs,kernel/workload)

PROGRAMS   := $(O)/labd $(O)/labctl $(O)/lab-agent $(O)/kvm-churn
UNIT_TESTS := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(wildcard tests/unit/test_*.c))

.PHONY: all run check setup kernels image bench unit functional machine lint asan tsan fuzz install clean help
all: $(PROGRAMS)

$(O)/labd: $(O)/daemon/labd.o $(LIB_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ $(call lib,$(LABD_PKGS)) -lm -lpthread

$(O)/labctl: $(CTL_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ $(call lib,$(CTL_PKGS))

# Static: the initramfs holds nothing but it and the workloads.
$(O)/lab-agent: $(AGENT_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(if $(SAN),$(SANFLAGS),-static) -o $@ $^ $(call lib,$(AGENT_PKGS),,--static) -lpthread

$(O)/kvm-churn: $(CHURN_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(if $(SAN),$(SANFLAGS),-static) -o $@ $^ -lpthread

$(O)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) $(call pkg,$(ALL_PKGS)) -c -o $@ $<

$(O)/gen/embedded.c: scripts/embed.sh $(wildcard schema/*.sql web/*)
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)scripts/embed.sh schema/*.sql $(wildcard web/*) >$@.tmp && mv $@.tmp $@

$(O)/gen/embedded.o: $(O)/gen/embedded.c
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) -c -o $@ $<

# A unit test links everything that labd is made of, and the workload's and agent's parts but for their mains.
$(O)/tests/unit/%: tests/unit/%.c $(LIB_OBJS) $(filter-out %/main.o,$(CHURN_OBJS) $(AGENT_OBJS))
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) -I. $(call pkg,$(ALL_PKGS) check) -o $@ $< $(sort $(filter %.o,$^)) \
		$(call lib,$(ALL_PKGS) check) -lm -lpthread

-include $(shell find $(O) -name '*.d' 2>/dev/null)
