/* The reference board: ATmega328P, 16 MHz, 5 V.
 *
 * One loop that sleeps: a timer wakes it every millisecond, the serial line with each byte. All decisions are in
 * core/; here are pins, time, line and memory only. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <avr/wdt.h>
#include <util/atomic.h>
#include <util/delay.h>

#include "../core/board.h"
#include "../core/protocol.h"
#include "eeprom.h"
#include "pins.h"
#include "uart.h"

/* The longest answer on the line, a STATUS with all it can list: head, check sum, borders and stuffing included. */
#define ANSWER_MAX                                                                                              \
    (QZ_STATUS_SIZE + QZ_LANES * QZ_ACTIVE_OP_SIZE + QZ_LANES + QZ_FAULTS_MAX * QZ_FAULT_REPORT_SIZE +           \
     QZ_FRAME_HEAD + QZ_FRAME_CRC + 3u)

#define STACK_PAINT 0xC5 /* what no call has touched still has this colour */

_Static_assert(sizeof(qz_memory_t) + EEPROM_OVERHEAD <= EEPROM_MEMORY_SLOT, "a memory fits its slot");
_Static_assert(QZ_BOARD_CONFIG_SIZE + EEPROM_OVERHEAD <= EEPROM_CONFIG_SLOT, "a configuration fits its slot");
_Static_assert(EEPROM_CONFIG + EEPROM_CONFIG_SLOTS * EEPROM_CONFIG_SLOT <= EEPROM_MEMORY, "rings do not overlap");
_Static_assert(EEPROM_MEMORY + EEPROM_MEMORY_SLOTS * EEPROM_MEMORY_SLOT <= E2END + 1, "rings fit the EEPROM");

static qz_board_t board;
static volatile uint32_t milliseconds;

static eeprom_ring_t memory_ring = {
    .base = EEPROM_MEMORY, .slots = EEPROM_MEMORY_SLOTS, .slot = EEPROM_MEMORY_SLOT, .size = sizeof(qz_memory_t)};
static eeprom_ring_t config_ring = {
    .base = EEPROM_CONFIG, .slots = EEPROM_CONFIG_SLOTS, .slot = EEPROM_CONFIG_SLOT, .size = QZ_BOARD_CONFIG_SIZE};

/* Why the board began its run, saved before anything else can be lost. */
static uint8_t reset_flags __attribute__((section(".noinit")));

/* Colour all memory above the variables: how deep the stack ever went can then be read from outside. */
__attribute__((naked, used, section(".init1"))) void stack_paint(void) {
    __asm__ volatile("ldi r30, lo8(_end)\n\t"
                     "ldi r31, hi8(_end)\n\t"
                     "ldi r24, %0\n\t"
                     "ldi r25, hi8(__stack)\n\t"
                     "rjmp 2f\n"
                     "1:\tst Z+, r24\n"
                     "2:\tcpi r30, lo8(__stack)\n\t"
                     "cpc r31, r25\n\t"
                     "brlo 1b\n\t"
                     "breq 1b\n\t" ::"M"(STACK_PAINT));
}

/* After a watchdog reset the dog is still awake and bites in 16 ms, so it is given its time here. */
__attribute__((naked, used, section(".init3"))) void reset_cause_save(void) {
    reset_flags = MCUSR;
    MCUSR = 0;
    wdt_enable(WDTO_250MS);
}

/* A flag stays until it is cleared, so more than one may be set: the one that explains the others counts. */
static uint8_t reset_cause(void) {
    if (reset_flags & _BV(PORF)) {
        return QZ_RESET_POWER_ON;
    }
    if (reset_flags & _BV(BORF)) {
        return QZ_RESET_BROWN_OUT;
    }
    if (reset_flags & _BV(WDRF)) {
        return QZ_RESET_WATCHDOG;
    }
    return QZ_RESET_EXTERNAL;
}

ISR(TIMER0_COMPA_vect) {
    milliseconds++;
}

/* An interrupt nobody asked for is a fault: stand still until the dog bites. */
ISR(BADISR_vect) {
    for (;;) {
    }
}

static void clock_init(void) {
    TCCR0A = _BV(WGM01); /* count to OCR0A and begin again */
    OCR0A = F_CPU / 64 / 1000 - 1;
    TIMSK0 = _BV(OCIE0A);
    TCCR0B = _BV(CS01) | _BV(CS00); /* F_CPU / 64 */
}

static uint32_t clock_ms(void) {
    uint32_t now;

    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) {
        now = milliseconds;
    }
    return now;
}

/* The stop string was received: motors off. What steers them stays, since it may change only while they stand. */
void uart_stop(void) {
    qz_board_stop(&board);
    pins_write(qz_board_outputs(&board));
}

static void pins_follow(void) {
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) /* a stop between asking and writing would be undone */ {
        pins_write(qz_board_outputs(&board));
    }
}

/* Write what the board wants to keep, once per millisecond. Motions wait for it. */
static void keep(void) {
    const eeprom_ring_t *written = eeprom_step();

    if (written == &memory_ring) {
        board.memory_dirty = false;
    } else if (written == &config_ring) {
        board.config_dirty = false;
    }
    if (!eeprom_busy()) {
        if (board.memory_dirty) {
            eeprom_begin(&memory_ring, &board.memory);
        } else if (board.config_dirty) {
            eeprom_begin(&config_ring, board.config);
        }
    }
}

/* Not inlined, so that the stack does not carry its copies for ever. */
__attribute__((noinline)) static void board_start(void) {
    qz_memory_t memory;
    uint8_t config[QZ_BOARD_CONFIG_SIZE];
    qz_boot_t boot = {.uid = eeprom_uid(), .cause = reset_cause()};
    bool remembered = eeprom_load(&memory_ring, &memory);

    boot.boot_id = remembered ? memory.boots + 1u : 1u;
    boot.memory = remembered ? &memory : 0;
    boot.config = eeprom_load(&config_ring, config) ? config : 0;
    qz_board_init(&board, &boot, clock_ms(), pins_read());
    board.memory.boots = boot.boot_id;
    board.memory_dirty = true;
}

int main(void) {
    uint32_t ticked;
    int16_t byte;

    pins_init();
    set_sleep_mode(SLEEP_MODE_IDLE);
    board_start();
    /* This start is written down before anybody can ask: no two runs ever have the same number. */
    while (board.memory_dirty) {
        keep();
        _delay_ms(1);
        wdt_reset();
    }
    uart_init();
    clock_init();
    ticked = clock_ms();
    sei();
    for (;;) {
        uint32_t now = clock_ms();

        /* A request waits on the line until its answer finds room. */
        while (board.tx_used <= QZ_TX_RING - ANSWER_MAX && (byte = uart_get()) >= 0) {
            qz_board_feed(&board, (uint8_t)byte, now);
        }
        if (now != ticked) { /* the dog lives on ticks: a clock that stands still is a fault too */
            ticked = now;
            qz_board_tick(&board, now, pins_read());
            keep();
            wdt_reset();
        }
        pins_follow();
#ifdef QZ_TEST_HANG /* a build for tests only */
        while (board.outputs & QZ_TEST_HANG) {
        }
#endif
        while (uart_room() != 0) {
            uint8_t next;

            if (qz_board_take(&board, &next, 1) == 0) {
                break;
            }
            uart_put(next);
        }
        sleep_mode();
    }
}
