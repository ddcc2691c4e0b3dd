# The board itself: included by ../Makefile.
#
#     make avr             builds $(BUILD)/avr/quezhuo.elf and .hex, prints the size and fails where it is too large
#     make uid UID=HEX     writes $(BUILD)/avr/uid.bin, the EEPROM of a board with that number (16 digits)
AVR_CC ?= avr-gcc
AVR_MCU := atmega328p
AVR_FLASH_MAX := 16384
AVR_RAM_MAX := 1536
AVR_CFLAGS := -mmcu=$(AVR_MCU) -DF_CPU=16000000UL -std=gnu11 -Os -flto -fwhole-program -ffunction-sections \
	-fdata-sections -fshort-enums -mcall-prologues -fno-inline-small-functions \
	-fno-move-loop-invariants -fno-tree-tail-merge -fno-tree-scev-cprop -mstrict-X -Wall -Wextra -Werror $(AVR_EXTRA)
AVR_LDFLAGS := -Wl,--gc-sections -Wl,--relax
AVR_SOURCES := $(sort $(wildcard $(FIRMWARE)core/*.c $(FIRMWARE)avr/*.c))
AVR_HEADERS := $(wildcard $(FIRMWARE)core/*.h $(FIRMWARE)avr/*.h)

.PHONY: avr avr-size uid
avr: $(BUILD)/avr/quezhuo.hex avr-size

$(BUILD)/avr/quezhuo.elf: $(AVR_SOURCES) $(AVR_HEADERS) $(FIRMWARE)avr/avr.mk
	@mkdir -p $(@D)
	$(AVR_CC) $(AVR_CFLAGS) $(AVR_LDFLAGS) -o $@ $(AVR_SOURCES)

$(BUILD)/avr/quezhuo.hex: $(BUILD)/avr/quezhuo.elf
	avr-objcopy -O ihex -R .eeprom $< $@

# Least significant byte first, then the complements: see eeprom.h.
uid:
	@mkdir -p $(BUILD)/avr
	@echo '$(UID)' | grep -Eqx '[0-9A-Fa-f]{16}' || { echo 'UID must be 16 hexadecimal digits' >&2; exit 2; }
	@for flip in 0 255; do \
		for pair in $$(echo '$(UID)' | sed 's/../& /g' | tr ' ' '\n' | sed '1!G;h;$$!d'); do \
			printf "\\$$(printf %03o $$((0x$$pair ^ flip)))"; \
		done; \
	done >$(BUILD)/avr/uid.bin
	@echo 'board $(UID): $(BUILD)/avr/uid.bin'

# The limits leave half of the flash and a quarter of the memory free; the stack is measured in the tests.
avr-size: $(BUILD)/avr/quezhuo.elf
	@avr-size -A $< | awk -v flash_max=$(AVR_FLASH_MAX) -v ram_max=$(AVR_RAM_MAX) ' \
		$$1 == ".text" { flash += $$2 } $$1 == ".data" { flash += $$2; ram += $$2 } \
		$$1 == ".bss" || $$1 == ".noinit" { ram += $$2 } \
		END { printf "flash %d of %d, variables %d of %d bytes\n", flash, flash_max, ram, ram_max; \
			exit flash > flash_max || ram > ram_max }'
