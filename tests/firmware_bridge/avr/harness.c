/* The compiled firmware in simavr, behind a pseudo-terminal, with the plant on its pins.
 *
 *     harness FIRMWARE.elf [--uid HEX] [--eeprom FILE] [--end ADDRESS] [--pace N] [--steps 1]
 *                          [--speed PERCENT] [--lift-ms N] [--walls A,B,C,D] [--fresh loaded|empty]
 *
 * `--end`: first address above the variables, for `stack`. `--pace`: so many simulated seconds in one (default 1).
 * The rest is about the plant; see firmware/plant/plant.h, whose faults are commands too.
 *
 * The first line on stdout is {"ready": true, "pty": "/dev/pts/N", "pid": N}. Then each change of an output pin
 * is a line {"pin": NAME, "level": 0|1, "cycle": N}, and each line on stdin a command, answered by a line
 * {"reply": COMMAND, ...}, with "error" in it when it can not be done. Cycles are of the simulated processor,
 * 16 000 000 per second, and go on over resets.
 *
 *     pins                     levels of all pins, how often each output rose, cycles of sleep,
 *                              and the longest time awake
 *     counts                   what the sensors of each place have counted: stacks built, tiles fed; tiles in all
 *     stack                    bytes of variables, of the deepest stack so far, and between them
 *     eeprom save|load FILE
 *     wear                     writes of the most written byte of the EEPROM since the start, and of all bytes
 *     reset | brownout | power | watchdog
 *     jam P, missing N, ...    faults of the plant
 *
 * With `--steps 1` there is no pace and no pseudo-terminal: time stands still until it is told to pass.
 *
 *     run MS [HEX]             send these bytes, let so many milliseconds pass; "sent": what the board sent, as HEX
 *
 * The simulated processor keeps pace with the clock on the wall. Where the host was too slow, the time it missed
 * is not made up for, so that a busy host never makes the board's clock run ahead of the line.
 *
 * The pseudo-terminal is our own and not that of libsimavrparts, whose thread can hang at the end and which makes
 * a link of a fixed name in the folder for temporary files. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <simavr/avr_eeprom.h>
#include <simavr/avr_extint.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

#include "plant/plant.h"

#define FREQUENCY 16000000u
#define STEP_CYCLES 4000u   /* plant, line and commands every 250 microseconds */
#define PACE_STEPS 4u       /* keep pace every millisecond */
#define BYTE_CYCLES 1500u   /* a byte on the line: simavr counts 11 bits each, 93 us */
#define BEHIND_NS 20000000  /* beyond this much, lost time is lost */

/* Addresses in data space (ATmega328P datasheet DS40002061A, 30). */
enum { PINB = 0x23, DDRB, PORTB, PINC, DDRC, PORTC, PIND, DDRD, PORTD, MCUSR = 0x54, IO_FIRST = 0x20, RAM_FIRST = 0x100 };

enum { PORF = 1, EXTRF = 2, BORF = 4, WDRF = 8 };

#define STACK_PAINT 0xC5
#define EEPROM_SIZE 1024u

static const char *const output_names[8] = {"BUILD", "LIFT", "LID", "DIR", "FEED", "TOOL", "SEL0", "SEL1"};
static const char *const input_names[10] = {"LID_OPEN", "LID_CLOSED", "LIFT_TOP", "LIFT_BOTTOM", "COUNT0",
                                            "COUNT1",   "COUNT2",     "COUNT3",   "DRUM",        "SERVICE"};

static avr_t *avr;
static avr_irq_t *uart_in;
static FILE *answers;
static int master = -1;
static uint32_t stack_floor; /* first address above the variables */

static uint8_t outputs;
static uint16_t inputs;
static uint32_t edges[8]; /* rising ones, per output */

static qz_plant_t plant;
static uint8_t plant_walls[QZ_PLACES] = {17, 17, 17, 17};
static uint32_t plant_speed = 100, plant_lift_ms;
static uint8_t plant_fresh = QZ_FRESH_LOADED;
static uint32_t built[QZ_PLACES], fed[QZ_PLACES];
static unsigned pace = 1;
static bool steps_only;
static avr_cycle_count_t stand_still; /* at this cycle, with `steps_only` */

static avr_cycle_count_t slept;       /* cycles of sleep */
static avr_cycle_count_t awake_since; /* the end of the last sleep; 0: none since the reset */
static avr_cycle_count_t longest;     /* cycles awake at a stretch */

static uint8_t rx[65536];
static size_t rx_head, rx_tail;
static uint8_t tx[65536];
static size_t tx_length;

/* -- what goes out ------------------------------------------------------------------------------------------ */

static void say(const char *format, ...) {
    va_list list;

    va_start(list, format);
    vfprintf(answers, format, list);
    va_end(list);
    fputc('\n', answers);
    fflush(answers);
}

static void quiet(avr_t *who, const int level, const char *format, va_list list) {
    (void)who;
    if (level <= LOG_WARNING) {
        vfprintf(stderr, format, list);
    }
}

/* -- pins --------------------------------------------------------------------------------------------------- */

static uint8_t read_outputs(void) {
    uint8_t d = avr->data[PORTD] & avr->data[DDRD], b = avr->data[PORTB] & avr->data[DDRB];

    return (uint8_t)(d >> 2) | (uint8_t)((b & 3u) << 6);
}

static void watch_outputs(void) {
    uint8_t now = read_outputs(), changed = now ^ outputs;
    int bit;

    outputs = now;
    for (bit = 0; bit < 8; bit++) {
        if (changed >> bit & 1) {
            edges[bit] += now >> bit & 1;
            say("{\"pin\": \"%s\", \"level\": %d, \"cycle\": %llu}", output_names[bit], now >> bit & 1,
                (unsigned long long)avr->cycle);
        }
    }
}

static void drive_inputs(void) {
    avr->data[PINC] = (avr->data[PINC] & 0xC0u) | (inputs & 0x3Fu);
    avr->data[PINB] = (avr->data[PINB] & 0xC3u) | (inputs >> 4 & 0x3Cu);
}

/* -- plant -------------------------------------------------------------------------------------------------- */

static uint64_t microseconds(void) {
    return avr->cycle / (FREQUENCY / 1000000u);
}

static void plant_start(void) {
    qz_plant_init(&plant, plant_walls, plant_speed, plant_fresh, microseconds());
    if (plant_lift_ms != 0) {
        plant.lift_us = plant_lift_ms * 1000u;
    }
    inputs = qz_plant_inputs(&plant);
}

/* A rising count sensor is a tile where one is being fed, else a stack. */
static void plant_step(void) {
    uint16_t before = inputs, rose;
    uint8_t place, feeding = plant.feed_left != 0;

    qz_plant_run(&plant, microseconds(), outputs);
    inputs = qz_plant_inputs(&plant);
    rose = inputs & (uint16_t)~before;
    for (place = 0; place < QZ_PLACES; place++) {
        if (rose >> (4 + place) & 1) {
            if (feeding && plant.feed_left == 0 && plant.feed_place == place) {
                fed[place]++;
            } else {
                built[place]++;
            }
        }
    }
}

static bool plant_option(const char *name, const char *value) {
    unsigned a, b, c, d;

    if (strcmp(name, "--speed") == 0) {
        plant_speed = (uint32_t)strtoul(value, NULL, 10);
    } else if (strcmp(name, "--lift-ms") == 0) {
        plant_lift_ms = (uint32_t)strtoul(value, NULL, 10);
    } else if (strcmp(name, "--walls") == 0 && sscanf(value, "%u,%u,%u,%u", &a, &b, &c, &d) == 4) {
        plant_walls[0] = (uint8_t)a;
        plant_walls[1] = (uint8_t)b;
        plant_walls[2] = (uint8_t)c;
        plant_walls[3] = (uint8_t)d;
    } else if (strcmp(name, "--fresh") == 0) {
        plant_fresh = strcmp(value, "empty") == 0 ? QZ_FRESH_EMPTY : QZ_FRESH_LOADED;
    } else {
        return false;
    }
    return plant_speed != 0;
}

/* -- line --------------------------------------------------------------------------------------------------- */

static void uart_sent(avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    (void)param;
    if (tx_length < sizeof tx) {
        tx[tx_length++] = (uint8_t)value;
    }
}

/* One byte after the other, no faster than the line. */
static avr_cycle_count_t line_byte(avr_t *who, avr_cycle_count_t when, void *param) {
    (void)who;
    (void)param;
    if (rx_tail == rx_head) {
        return 0;
    }
    avr_raise_irq(uart_in, rx[rx_tail]);
    rx_tail = (rx_tail + 1) % sizeof rx;
    return when + BYTE_CYCLES;
}

static void line_put(uint8_t byte) {
    rx[rx_head] = byte;
    rx_head = (rx_head + 1) % sizeof rx;
}

static void line_begin(void) {
    if (rx_head != rx_tail && avr_cycle_timer_status(avr, line_byte, NULL) == 0) {
        avr_cycle_timer_register(avr, BYTE_CYCLES, line_byte, NULL);
    }
}

static void line_step(void) {
    uint8_t buffer[256];
    size_t room = (rx_tail - rx_head - 1) % sizeof rx;
    ssize_t length = steps_only ? 0 : read(master, buffer, room < sizeof buffer ? room : sizeof buffer), i;

    for (i = 0; i < length; i++) {
        line_put(buffer[i]);
    }
    line_begin();
    if (tx_length != 0 && !steps_only) {
        ssize_t sent = write(master, tx, tx_length);

        /* What nobody takes is lost, as on a line that ends nowhere. */
        (void)sent;
        tx_length = 0;
    }
}

static const char *line_open(void) {
    static char name[128];
    struct termios raw;
    int slave; /* stays open, so that the terminal outlives those who open and close it */

    if (openpty(&master, &slave, name, NULL, NULL) != 0) {
        perror("openpty");
        exit(1);
    }
    tcgetattr(slave, &raw);
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    fcntl(master, F_SETFL, O_NONBLOCK);
    return name;
}

/* -- resets and memory -------------------------------------------------------------------------------------- */

static void reset(uint8_t flags) {
    if (flags & PORF) { /* without power the memory forgets */
        memset(avr->data + RAM_FIRST, 0x5A, avr->ramend + 1u - RAM_FIRST);
    }
    memset(avr->data + IO_FIRST, 0, RAM_FIRST - IO_FIRST);
    watch_outputs();
    avr_reset(avr);
    avr->data[MCUSR] = flags;
    avr->state = cpu_Running;
    awake_since = 0;
    rx_tail = rx_head; /* what was on the line fell on deaf ears */
    drive_inputs();
}

static uint8_t *eeprom(void) {
    avr_eeprom_desc_t all = {.ee = NULL, .offset = 0, .size = 0};

    avr_ioctl(avr, AVR_IOCTL_EEPROM_GET, &all); /* returns -1 even when it did as told */
    if (all.ee == NULL) {
        fprintf(stderr, "harness: no EEPROM\n");
        exit(1);
    }
    return all.ee;
}

/* Bytes that differ were written, since the board does not write what is right already. */
static uint8_t eeprom_before[EEPROM_SIZE];
static uint32_t eeprom_writes[EEPROM_SIZE];

static void eeprom_watch(void) {
    const uint8_t *now = eeprom();
    size_t i;

    if (memcmp(now, eeprom_before, EEPROM_SIZE) == 0) {
        return;
    }
    for (i = 0; i < EEPROM_SIZE; i++) {
        eeprom_writes[i] += now[i] != eeprom_before[i];
        eeprom_before[i] = now[i];
    }
}

static bool eeprom_file(const char *path, bool save) {
    FILE *file = fopen(path, save ? "wb" : "rb");
    bool good;

    if (file == NULL) {
        return false;
    }
    good = (save ? fwrite(eeprom(), 1, EEPROM_SIZE, file) : fread(eeprom(), 1, EEPROM_SIZE, file)) == EEPROM_SIZE;
    return fclose(file) == 0 && good;
}

static void provision(const char *text) {
    uint64_t uid = strtoull(text, NULL, 16);
    int i;

    for (i = 0; i < 8; i++) {
        eeprom()[i] = (uint8_t)(uid >> (8 * i));
        eeprom()[8 + i] = (uint8_t)~eeprom()[i];
    }
}

/* -- commands ----------------------------------------------------------------------------------------------- */

static void tell_pins(void) {
    int i;

    fprintf(answers, "{\"reply\": \"pins\", \"cycle\": %llu, \"slept\": %llu, \"longest\": %llu, \"outputs\": {",
            (unsigned long long)avr->cycle, (unsigned long long)slept, (unsigned long long)longest);
    for (i = 0; i < 8; i++) {
        fprintf(answers, "%s\"%s\": %d", i ? ", " : "", output_names[i], outputs >> i & 1);
    }
    fprintf(answers, "}, \"rises\": {");
    for (i = 0; i < 8; i++) {
        fprintf(answers, "%s\"%s\": %u", i ? ", " : "", output_names[i], edges[i]);
    }
    fprintf(answers, "}, \"inputs\": {");
    for (i = 0; i < 10; i++) {
        fprintf(answers, "%s\"%s\": %d", i ? ", " : "", input_names[i], inputs >> i & 1);
    }
    say("}}");
}

/* How deep the stack ever went, from the paint that is left. */
static void tell_stack(void) {
    uint32_t top = avr->ramend + 1u, at = stack_floor;

    while (at < top && avr->data[at] == STACK_PAINT) {
        at++;
    }
    say("{\"reply\": \"stack\", \"static\": %u, \"stack\": %u, \"free\": %u}", stack_floor - RAM_FIRST, top - at,
        at - stack_floor);
}

static void tell_counts(void) {
    say("{\"reply\": \"counts\", \"built\": [%u, %u, %u, %u], \"fed\": [%u, %u, %u, %u], \"tiles\": %u}", built[0],
        built[1], built[2], built[3], fed[0], fed[1], fed[2], fed[3], qz_plant_tiles(&plant));
}

static void tell_wear(void) {
    uint32_t most = 0, all = 0;
    size_t i;

    for (i = 0; i < EEPROM_SIZE; i++) {
        most = eeprom_writes[i] > most ? eeprom_writes[i] : most;
        all += eeprom_writes[i];
    }
    say("{\"reply\": \"wear\", \"most\": %u, \"all\": %u}", most, all);
}

static void tell_sent(void) {
    size_t i;

    fprintf(answers, "{\"reply\": \"run\", \"cycle\": %llu, \"sent\": \"", (unsigned long long)avr->cycle);
    for (i = 0; i < tx_length; i++) {
        fprintf(answers, "%02x", tx[i]);
    }
    tx_length = 0;
    say("\"}");
}

static void run(const char *ms, const char *hex) {
    unsigned byte;

    for (; hex != NULL && sscanf(hex, "%2x", &byte) == 1; hex += 2) {
        line_put((uint8_t)byte);
    }
    line_begin();
    stand_still = avr->cycle + strtoull(ms, NULL, 10) * (FREQUENCY / 1000u);
}

static void refuse(const char *command, const char *why) {
    say("{\"reply\": \"%s\", \"error\": \"%s\"}", command, why);
}

static void command(char *line) {
    static const struct {
        const char *name;
        uint8_t flags;
    } causes[] = {{"reset", EXTRF}, {"brownout", BORF}, {"power", PORF}, {"watchdog", WDRF}};
    char whole[4096], *name, *one, *two;
    size_t i;

    strcpy(whole, line);
    name = strtok(line, " \t");
    one = strtok(NULL, " \t");
    two = strtok(NULL, " \t");

    if (name == NULL) {
        return;
    }
    for (i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        if (strcmp(name, causes[i].name) == 0) {
            reset(causes[i].flags);
            say("{\"reply\": \"%s\", \"cycle\": %llu}", name, (unsigned long long)avr->cycle);
            return;
        }
    }
    if (strcmp(name, "run") == 0 && steps_only && one != NULL) {
        run(one, two);
    } else if (strcmp(name, "pins") == 0) {
        tell_pins();
    } else if (strcmp(name, "counts") == 0) {
        tell_counts();
    } else if (strcmp(name, "stack") == 0) {
        tell_stack();
    } else if (strcmp(name, "wear") == 0) {
        tell_wear();
    } else if (strcmp(name, "eeprom") == 0) {
        if (one == NULL || two == NULL || !eeprom_file(two, strcmp(one, "save") == 0)) {
            refuse(name, "use: eeprom save|load FILE");
        } else {
            say("{\"reply\": \"eeprom\"}");
        }
    } else if (qz_plant_fault(&plant, whole)) {
        say("{\"reply\": \"%s\"}", name);
    } else {
        refuse(name, "no such command");
    }
}

static void commands_step(void) {
    static char line[4096];
    static size_t length;
    char byte;
    ssize_t got;

    while ((got = read(STDIN_FILENO, &byte, 1)) >= 0) {
        if (got == 0) { /* nobody is there any more */
            _exit(0);
        }
        if (byte == '\n') {
            line[length] = 0;
            length = 0;
            command(line);
        } else if (length + 1 < sizeof line) {
            line[length++] = byte;
        }
    }
}

/* Time stands still, and passes again when a command tells it. */
static void commands_wait(void) {
    static char line[4096];

    tell_sent();
    while (avr->cycle >= stand_still) {
        if (fgets(line, sizeof line, stdin) == NULL) {
            _exit(0);
        }
        line[strcspn(line, "\n")] = 0;
        command(line);
    }
}

/* -- time --------------------------------------------------------------------------------------------------- */

/* Cuts the sleep of the simulated processor; what is to do is done in the loop. */
static avr_cycle_count_t wake(avr_t *who, avr_cycle_count_t when, void *param) {
    (void)who;
    (void)param;
    return when + STEP_CYCLES;
}

static void no_sleep(avr_t *who, avr_cycle_count_t how_long) {
    (void)who;
    slept += how_long + 1;
    if (awake_since != 0 && avr->cycle > awake_since && avr->cycle - awake_since > longest) {
        longest = avr->cycle - awake_since;
    }
    awake_since = avr->cycle + how_long + 1;
}

static int64_t wall_ns(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void keep_pace(void) {
    static int64_t offset = INT64_MIN; /* wall minus simulated time */
    int64_t simulated = (int64_t)(avr->cycle * 125 / 2 / pace), ahead;
    struct timespec pause;

    if (offset == INT64_MIN) {
        offset = wall_ns() - simulated;
    }
    ahead = simulated + offset - wall_ns();
    if (ahead < -BEHIND_NS) {
        offset -= ahead;
    } else if (ahead > 0) {
        pause.tv_sec = ahead / 1000000000;
        pause.tv_nsec = ahead % 1000000000;
        nanosleep(&pause, NULL);
    }
}

static void end(int number) {
    (void)number;
    _exit(0);
}

int main(int argc, char **argv) {
    elf_firmware_t firmware;
    avr_cycle_count_t due = 0;
    uint32_t flags = 0;
    unsigned steps = 0;
    avr_irq_t *uart_out;
    const char *uid = NULL;
    int i;

    /* The simulator prints as it likes: that goes to stderr. */
    answers = fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO);
    avr_global_logger_set(quiet);
    signal(SIGTERM, end);
    signal(SIGINT, end);
    if (argc < 2) {
        fprintf(stderr, "usage: harness FIRMWARE.elf [OPTION VALUE]...; see the head of harness.c\n");
        return 2;
    }
    memset(&firmware, 0, sizeof firmware);
    if (elf_read_firmware(argv[1], &firmware) != 0) {
        return 2;
    }
    strcpy(firmware.mmcu, "atmega328p");
    firmware.frequency = FREQUENCY;
    avr = avr_make_mcu_by_name("atmega328p");
    if (avr == NULL) {
        return 2;
    }
    avr_init(avr);
    avr_load_firmware(avr, &firmware);
    avr->frequency = FREQUENCY;
    avr->sleep = no_sleep;
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    uart_in = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    uart_out = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT);
    avr_irq_register_notify(uart_out, uart_sent, NULL);

    for (i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--uid") == 0) {
            uid = argv[i + 1];
        } else if (strcmp(argv[i], "--eeprom") == 0) {
            eeprom_file(argv[i + 1], false);
        } else if (strcmp(argv[i], "--end") == 0) {
            stack_floor = (uint32_t)strtoul(argv[i + 1], NULL, 0) & 0xFFFFu;
        } else if (strcmp(argv[i], "--steps") == 0) {
            steps_only = true;
        } else if (strcmp(argv[i], "--pace") == 0) {
            pace = (unsigned)strtoul(argv[i + 1], NULL, 10);
            pace = pace == 0 ? 1 : pace;
        } else if (!plant_option(argv[i], argv[i + 1])) {
            fprintf(stderr, "harness: no option %s %s\n", argv[i], argv[i + 1]);
            return 2;
        }
    }
    if (uid != NULL && uid[0] != 0) {
        provision(uid);
    }
    memcpy(eeprom_before, eeprom(), EEPROM_SIZE);
    plant_start();
    reset(PORF);
    if (!steps_only) {
        fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
    }
    say("{\"ready\": true, \"pty\": \"%s\", \"pid\": %d}", steps_only ? "" : line_open(), (int)getpid());

    for (;;) {
        int state = avr_run(avr);

        watch_outputs();
        if (avr->cycle < due) {
            continue;
        }
        due = avr->cycle + STEP_CYCLES;
        if (state == cpu_Done || state == cpu_Crashed) {
            say("{\"crashed\": true, \"cycle\": %llu}", (unsigned long long)avr->cycle);
            _exit(1);
        }
        if (avr_cycle_timer_status(avr, wake, NULL) == 0) { /* a reset forgets timers */
            avr_cycle_timer_register(avr, STEP_CYCLES, wake, NULL);
            /* PD2 and PD3 could be interrupts, which are not used: not to be looked after in every cycle. */
            avr_extint_set_strict_lvl_trig(avr, 0, 0);
            avr_extint_set_strict_lvl_trig(avr, 1, 0);
        }
        plant_step();
        drive_inputs();
        line_step();
        eeprom_watch();
        if (steps_only) {
            if (avr->cycle >= stand_still) {
                commands_wait();
            }
        } else if (++steps % PACE_STEPS == 0) {
            commands_step();
            keep_pace();
        }
    }
}
