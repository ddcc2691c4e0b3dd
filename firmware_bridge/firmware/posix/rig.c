#include "rig.h"

#include <string.h>

static const uint8_t walls[QZ_PLACES] = {17, 17, 17, 17};

/* What an EEPROM would do, at once unless it is held up. */
static void keep(qz_rig_t *rig) {
    if (rig->memory_held) {
        return;
    }
    if (rig->board.memory_dirty) {
        rig->memory = rig->board.memory;
        rig->board.memory_dirty = false;
    }
    if (rig->board.config_dirty) {
        memcpy(rig->config, rig->board.config, QZ_BOARD_CONFIG_SIZE);
        rig->configured = true;
        rig->board.config_dirty = false;
    }
}

static void drain(qz_rig_t *rig) {
    uint8_t some[QZ_TX_RING];
    const uint8_t got = qz_board_take(&rig->board, some, sizeof some);
    if (rig->sent + got <= QZ_RIG_OUT) {
        memcpy(rig->out + rig->sent, some, got);
        rig->sent += got;
    }
}

/* Between two looks at most one command takes effect: a byte ends at most one frame. */
static void count(qz_rig_t *rig) {
    if (rig->executed + rig->board.executed != rig->logged) {
        rig->log[rig->logged++ % QZ_RIG_LOG] = rig->board.memory.last_id;
    }
}

static void settle(qz_rig_t *rig) {
    count(rig);
    keep(rig);
    drain(rig);
    qz_plant_run(&rig->plant, (uint64_t)rig->now_ms * 1000u, qz_board_outputs(&rig->board));
}

static void boot(qz_rig_t *rig, uint32_t boot_id, uint8_t cause) {
    const qz_boot_t how = {rig->uid, boot_id, cause, &rig->memory, rig->configured ? rig->config : NULL};
    qz_board_init(&rig->board, &how, rig->now_ms, qz_plant_inputs(&rig->plant));
    rig->watch = 0;
    settle(rig);
}

void qz_rig_start(qz_rig_t *rig, uint64_t uid, uint32_t boot_id, uint32_t speed, uint8_t fresh) {
    memset(rig, 0, sizeof *rig);
    rig->uid = uid;
    rig->now_ms = 1000;
    qz_plant_init(&rig->plant, walls, speed, fresh, (uint64_t)rig->now_ms * 1000u);
    boot(rig, boot_id, QZ_RESET_POWER_ON);
}

void qz_rig_reset(qz_rig_t *rig, uint32_t boot_id, uint8_t cause) {
    qz_plant_run(&rig->plant, rig->plant.now_us, 0); /* pins fall with the reset */
    rig->executed += rig->board.executed;
    rig->sent = 0;
    boot(rig, boot_id, cause);
}

void qz_rig_receive(qz_rig_t *rig, const uint8_t *data, uint32_t length) {
    uint32_t from = 0;
    for (uint32_t n = 0; n < length; n++) {
        if (qz_stop_byte(&rig->watch, data[n])) {
            qz_board_stop(&rig->board);
            from = n + 1;
        }
    }
    for (; from < length; from++) {
        qz_board_feed(&rig->board, data[from], rig->now_ms);
        drain(rig);
        qz_board_tick(&rig->board, rig->now_ms, qz_plant_inputs(&rig->plant)); /* sends what waited for room */
        settle(rig);
    }
    qz_board_tick(&rig->board, rig->now_ms, qz_plant_inputs(&rig->plant));
    settle(rig);
}

void qz_rig_stall(qz_rig_t *rig, uint32_t ms) {
    rig->now_ms += ms;
    qz_board_tick(&rig->board, rig->now_ms, qz_plant_inputs(&rig->plant));
    settle(rig);
}

void qz_rig_pass(qz_rig_t *rig, uint32_t ms) {
    while (ms--) {
        rig->now_ms++;
        qz_plant_run(&rig->plant, (uint64_t)rig->now_ms * 1000u, qz_board_outputs(&rig->board));
        qz_board_tick(&rig->board, rig->now_ms, qz_plant_inputs(&rig->plant));
        settle(rig);
    }
}

uint32_t qz_rig_take(qz_rig_t *rig, uint8_t *buffer, uint32_t max) {
    const uint32_t got = rig->sent < max ? rig->sent : max;
    memcpy(buffer, rig->out, got);
    memmove(rig->out, rig->out + got, rig->sent - got);
    rig->sent -= got;
    return got;
}
