/* The firmware as a process behind a pseudo-terminal that it makes, as `python -m firmware_bridge.sim` is:
 * the same core and plant, in real time, for tests with the compiler's sanitizers.
 *
 *     quezhuo-board [--speed PERCENT] [--fresh loaded|empty] [--uid HEX] [--boot-id N] [--virtual 1]
 *
 * The first line on stdout is {"ready": true, "pty": "/dev/pts/7", "pid": 4711}. Lines on stdin are faults as in
 * plant.h, or `reset`; each is answered by a line of state. Ends with stdin, SIGTERM or SIGINT.
 *
 * With --virtual there is no pseudo-terminal and no clock: stdin brings requests, a letter, a length (u16,
 * little-endian) and so many bytes: `s` bytes for the board, `p` milliseconds that pass (u32), `f` a fault as text,
 * `r` a reset (boot id u32, cause u8). Each is answered by whether it was understood (u8), all tiles there are (u16),
 * commands executed (u32), then a length (u16) and the bytes that the board has sent.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "../core/bytes.h"
#include "rig.h"

static qz_rig_t rig;
static volatile sig_atomic_t over;

static void stop(int number) {
    (void)number;
    over = 1;
}

static uint64_t real_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* Our end of a new pseudo-terminal; the other end stays open too, so that a host may come and go. */
static int open_pty(char *name, size_t room) {
    const int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    struct termios raw;
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 || ptsname_r(master, name, room) != 0) {
        return -1;
    }
    const int slave = open(name, O_RDWR | O_NOCTTY);
    if (slave < 0 || tcgetattr(slave, &raw) != 0) {
        return -1;
    }
    cfmakeraw(&raw);
    return tcsetattr(slave, TCSANOW, &raw) == 0 ? master : -1;
}

static void tell(bool understood) {
    printf("{\"ok\": %s, \"outputs\": %u, \"executed\": %" PRIu32 ", \"tiles\": %u}\n", understood ? "true" : "false",
           qz_board_outputs(&rig.board), rig.executed + rig.board.executed, qz_plant_tiles(&rig.plant));
    fflush(stdout);
}

static void obey(char *line) {
    if (strcmp(line, "reset") == 0) {
        qz_rig_reset(&rig, rig.board.boot_id + 1, QZ_RESET_WATCHDOG);
        tell(true);
    } else {
        tell(qz_plant_fault(&rig.plant, line));
    }
}

/* Whole lines of stdin; false at its end. */
static bool read_lines(void) {
    static char line[128];
    static size_t used;
    const ssize_t got = read(STDIN_FILENO, line + used, sizeof line - 1 - used);
    if (got <= 0) {
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
    used += (size_t)got;
    line[used] = 0;
    for (char *end = strchr(line, '\n'); end != NULL; end = strchr(line, '\n')) {
        *end = 0;
        obey(line);
        used -= (size_t)(end + 1 - line);
        memmove(line, end + 1, used + 1);
    }
    used = used == sizeof line - 1 ? 0 : used;
    return true;
}

static void exchange(int master) {
    uint8_t bytes[512];
    const ssize_t got = read(master, bytes, sizeof bytes);
    if (got > 0) {
        qz_rig_receive(&rig, bytes, (uint32_t)got);
    }
    const uint32_t sent = qz_rig_take(&rig, bytes, sizeof bytes);
    if (sent > 0 && write(master, bytes, sent) < 0 && errno != EAGAIN) {
        over = 1; /* nobody reads: the bytes are lost, as on a wire; anything else is the end */
    }
}

static int run(int master) {
    uint64_t from = real_ms();
    struct pollfd files[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = master, .events = POLLIN}};
    while (!over) {
        if (poll(files, 2, rig.sent > 0 ? 0 : 5) < 0 && errno != EINTR) {
            return 3;
        }
        if ((files[0].revents & (POLLIN | POLLHUP)) && !read_lines()) {
            break;
        }
        const uint64_t now = real_ms();
        qz_rig_pass(&rig, (uint32_t)(now - from));
        from = now;
        exchange(master);
    }
    return 0;
}

static bool read_all(uint8_t *to, size_t size) {
    return size == 0 || fread(to, 1, size, stdin) == size;
}

static bool request(uint8_t what, uint8_t *data, uint16_t length) {
    if (what == 's') {
        qz_rig_receive(&rig, data, length);
    } else if (what == 'p' && length == 4) {
        qz_rig_pass(&rig, qz_get_u32(data));
    } else if (what == 'r' && length == 5) {
        qz_rig_reset(&rig, qz_get_u32(data), data[4]);
    } else if (what == 'f') {
        data[length] = 0;
        return qz_plant_fault(&rig.plant, (const char *)data);
    } else {
        return false;
    }
    return true;
}

static int run_virtually(void) {
    static uint8_t data[65536];
    uint8_t head[3];
    uint8_t reply[9];
    while (read_all(head, sizeof head)) {
        const uint16_t length = qz_get_u16(head + 1);
        if (!read_all(data, length)) {
            return 3;
        }
        reply[0] = request(head[0], data, length);
        qz_put_u16(reply + 1, qz_plant_tiles(&rig.plant));
        qz_put_u32(reply + 3, rig.executed + rig.board.executed);
        const uint32_t sent = qz_rig_take(&rig, data, 65535);
        qz_put_u16(reply + 7, (uint16_t)sent);
        if (fwrite(reply, 1, sizeof reply, stdout) != sizeof reply || fwrite(data, 1, sent, stdout) != sent ||
            fflush(stdout) != 0) {
            return 3;
        }
    }
    return 0;
}

static int usage(void) {
    fputs("quezhuo-board [--speed PERCENT] [--fresh loaded|empty] [--uid HEX] [--boot-id N] [--virtual 1]\n", stderr);
    return 2;
}

int main(int argc, char **argv) {
    uint64_t uid = 7;
    uint32_t boot_id = 1;
    uint32_t speed = 100;
    uint8_t fresh = QZ_FRESH_LOADED;
    bool virtually = false;
    for (int n = 1; n < argc; n += 2) {
        if (n + 1 == argc) {
            return usage();
        }
        if (strcmp(argv[n], "--speed") == 0) {
            speed = (uint32_t)strtoul(argv[n + 1], NULL, 10);
        } else if (strcmp(argv[n], "--fresh") == 0) {
            fresh = strcmp(argv[n + 1], "empty") == 0 ? QZ_FRESH_EMPTY : QZ_FRESH_LOADED;
        } else if (strcmp(argv[n], "--uid") == 0) {
            uid = strtoull(argv[n + 1], NULL, 16);
        } else if (strcmp(argv[n], "--boot-id") == 0) {
            boot_id = (uint32_t)strtoul(argv[n + 1], NULL, 10);
        } else if (strcmp(argv[n], "--virtual") == 0) {
            virtually = strcmp(argv[n + 1], "0") != 0;
        } else {
            return usage();
        }
    }
    if (speed == 0 || speed > 100000u) {
        return usage();
    }
    if (virtually) {
        qz_rig_start(&rig, uid, boot_id, speed, fresh);
        return run_virtually();
    }
    char name[64];
    const int master = open_pty(name, sizeof name);
    if (master < 0) {
        perror("pseudo-terminal");
        return 3;
    }
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    qz_rig_start(&rig, uid, boot_id, speed, fresh);
    printf("{\"ready\": true, \"pty\": \"%s\", \"pid\": %ld}\n", name, (long)getpid());
    fflush(stdout);
    return run(master);
}
