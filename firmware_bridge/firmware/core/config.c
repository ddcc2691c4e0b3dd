/* What the board was told of its machine: stacks per place, and how long a motion may take. */
#include <string.h>

#include "bytes.h"
#include "parts.h"

static const uint8_t own_config[QZ_BOARD_CONFIG_SIZE] QZ_FLASH = {'1', '3', '6', 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                                                  17,  17,  17,  17};

/* Of the board itself, in 10 ms, in the order of the configuration. */
static const uint16_t own_timeouts[10] QZ_FLASH = {
    1000, 2500, 12000, 2000, 12000, 2000, 150, 100, 2000, 50,
};

void qz_config_init(qz_board_t *board, const uint8_t *kept) {
    if (kept != NULL) {
        memcpy(board->config, kept, QZ_BOARD_CONFIG_SIZE);
    } else {
        qz_flash_copy(board->config, own_config, QZ_BOARD_CONFIG_SIZE);
    }
}

const uint8_t *qz_plan(const qz_board_t *board) {
    return board->config + QZ_AT_BOARD_CONFIG_WALLS;
}

uint16_t qz_at_most(uint32_t ms) {
    return ms > LONGEST_MS ? (uint16_t)LONGEST_MS : (uint16_t)ms;
}

static uint32_t configured_ms(const qz_board_t *board, uint8_t op) {
    const uint8_t at = op <= QZ_OP_FLIP_INDICATOR ? (uint8_t)(op - QZ_OP_OPEN_LID)
                                                  : (uint8_t)(op - QZ_OP_HOME + QZ_TIMEOUT_HOME);
    uint16_t steps = qz_get_u16(board->config + QZ_AT_BOARD_CONFIG_TIMEOUTS + 2 * at);
    if (steps == 0) {
        steps = qz_flash_u16(&own_timeouts[at]);
    }
    return (uint32_t)steps * QZ_TIMEOUT_UNIT_MS;
}

uint16_t qz_timeout_ms(const qz_board_t *board, uint8_t op) {
    return qz_at_most(configured_ms(board, op));
}

uint16_t qz_stall_ms(const qz_board_t *board, uint8_t op, uint8_t shift) {
    const uint16_t part = qz_at_most(configured_ms(board, op) >> shift);
    return part < 200u ? 200u : part;
}

static uint8_t examine_config(const qz_board_t *board, const uint8_t *config) {
    if (memcmp(config, board->config, QZ_BOARD_CONFIG_SIZE) == 0) {
        return 0;
    }
    if (qz_motion_any(board, QZ_MODE_RUNS)) {
        return QZ_REASON_BUSY;
    }
    if (qz_motion_any(board, QZ_MODE_CUT)) {
        return QZ_REASON_HOLD;
    }
    if (board->estop) {
        return QZ_REASON_ESTOP;
    }
    if (board->where.surface != QZ_SURFACE_CLEAR) {
        return QZ_REASON_SURFACE;
    }
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        if (config[QZ_AT_BOARD_CONFIG_WALLS + place] > QZ_MAX_STACKS) {
            return QZ_REASON_BAD_ARGUMENTS;
        }
    }
    return 0;
}

/* The configuration stays the bytes it is on the wire: nothing is lost on the way to its check sum. */
void qz_configure(qz_board_t *board, const qz_frame_t *frame) {
    uint8_t reason = 0;
    const bool set = frame->kind == QZ_KIND_CONFIG_SET;
    if (!(set ? qz_config_set_valid(frame->payload, frame->length) : qz_config_get_read(frame->length))) {
        return;
    }
    if (set) {
        reason = examine_config(board, frame->payload);
        if (reason == 0 && memcmp(board->config, frame->payload, QZ_BOARD_CONFIG_SIZE) != 0) {
            memcpy(board->config, frame->payload, QZ_BOARD_CONFIG_SIZE);
            board->config_dirty = true;
            qz_revise(board);
        }
    }
    if (qz_out_answer(board, frame, QZ_KIND_CONFIG, QZ_CONFIG_SIZE)) {
        qz_out_u8(board, reason);
        qz_out_bytes(board, board->config, QZ_BOARD_CONFIG_SIZE);
        qz_out_end(board);
    }
}
