/* A motion from its beginning to its end: reached, failed, cut, resumed or given up. */
#include <string.h>

#include "parts.h"

bool qz_motion_any(const qz_board_t *board, uint8_t mode) {
    return board->lanes[0].mode == mode || board->lanes[1].mode == mode;
}

static bool lifts(uint8_t op) {
    return op == QZ_OP_RAISE_WALLS || op == QZ_OP_DEAL || op == QZ_OP_LOWER;
}

static void start(qz_board_t *board, qz_lane_t *lane) {
    lane->mode = QZ_MODE_RUNS;
    qz_enter(lane, START);
    if (lane->op == QZ_OP_START_BUILD) {
        memset(board->quiet, 0, sizeof board->quiet);
    }
}

void qz_motion_begin(qz_board_t *board, uint8_t op, const uint8_t *args, uint8_t length, uint32_t cmd_id) {
    qz_lane_t *const lane = &board->lanes[op == QZ_OP_START_BUILD ? QZ_LANE_OF_DRUM : QZ_LANE_OF_SURFACE];
    lane->op = op;
    lane->cmd_id = cmd_id;
    lane->from_surface = board->where.surface;
    memset(lane->args, 0, sizeof lane->args);
    memcpy(lane->args, args, length);
    start(board, lane);
    switch (op) {
    case QZ_OP_START_BUILD:
        board->where.magazine = QZ_MAGAZINE_BUILDING;
        board->where.drum = false;
        qz_quad_clear(board->where.stacks);
        break;
    case QZ_OP_OPEN_LID:
        board->where.lid_closed = false;
        break;
    case QZ_OP_ROLL_DICE:
        board->dice[0] = board->dice[1] = 0;
        break;
    case QZ_OP_DEAL:
        qz_quad_clear(board->dealt);
        board->turn = lane->args[4] & (QZ_PLACES - 1); /* the dealer's place first */
        break;
    default:
        break;
    }
}

void qz_motion_resume(qz_board_t *board, uint32_t cmd_id) {
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (board->lanes[n].mode == QZ_MODE_CUT) {
            board->lanes[n].cmd_id = cmd_id;
            start(board, &board->lanes[n]);
        }
    }
}

void qz_cut(qz_board_t *board, qz_lane_t *lane) {
    lane->mode = QZ_MODE_CUT;
    if (lifts(lane->op)) {
        board->where.surface = QZ_SURFACE_UNKNOWN;
    }
}

void qz_motion_stop(qz_board_t *board) {
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (board->lanes[n].mode == QZ_MODE_RUNS) {
            qz_cut(board, &board->lanes[n]);
        }
    }
    qz_set_outputs(board);
}

void qz_give_up(qz_board_t *board, qz_lane_t *lane) {
    switch (lane->op) {
    case QZ_OP_START_BUILD:
        qz_scatter(board, true);
        break;
    case QZ_OP_RAISE_WALLS:
    case QZ_OP_DEAL:
    case QZ_OP_LOWER:
        qz_tiles_on_table(board, lane->from_surface);
        break;
    case QZ_OP_OPEN_LID:
    case QZ_OP_CLOSE_LID:
        qz_lid_stays_open(board, lane->op);
        break;
    default:
        break;
    }
    lane->mode = QZ_MODE_IDLE;
    lane->op = 0;
}

void qz_motion_leave(qz_board_t *board) {
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (board->lanes[n].mode == QZ_MODE_CUT) {
            qz_give_up(board, &board->lanes[n]);
        }
    }
}

void qz_fail(qz_board_t *board, uint8_t number, uint8_t fault, uint8_t place, uint8_t count) {
    qz_lane_t *const lane = &board->lanes[number];
    const qz_ended_t ended = {number, lane->op, lane->from_surface, {fault, place, count}, 0, {0, 0, 0, 0}};
    if (lane->op == QZ_OP_START_BUILD) {
        uint8_t counted[QZ_PLACES]; /* stays on show until the next build */
        qz_quad_copy(counted, board->where.stacks);
        qz_scatter(board,
                   counted[0] | counted[1] | counted[2] | counted[3] | (fault != QZ_FAULT_TILES_SHORT));
        qz_quad_copy(board->where.stacks, counted);
        lane->mode = QZ_MODE_IDLE;
    } else if (lane->op == QZ_OP_OPEN_LID || lane->op == QZ_OP_CLOSE_LID) {
        qz_lid_stays_open(board, lane->op);
        lane->mode = QZ_MODE_IDLE;
    } else {
        board->turn &= (uint8_t)~PENDING;
        qz_cut(board, lane);
    }
    if (lane->mode == QZ_MODE_IDLE) {
        lane->op = 0;
    }
    qz_set_outputs(board);
    qz_board_ended(board, &ended);
}

/* Numbers for dice: 16 bits of xorshift, stirred by the moments at which bytes arrive. */
static uint8_t die(qz_board_t *board) {
    uint8_t bits;
    do {
        board->noise ^= (uint16_t)(board->noise << 7);
        board->noise ^= (uint16_t)(board->noise >> 9);
        board->noise ^= (uint16_t)(board->noise << 8);
        bits = (uint8_t)(board->noise >> 5) & 7u;
    } while (bits >= 6);
    return (uint8_t)(bits + 1);
}

void qz_finish(qz_board_t *board, uint8_t number) {
    qz_lane_t *const lane = &board->lanes[number];
    qz_ended_t ended = {number, lane->op, lane->from_surface, {0, QZ_NO_PLACE, 0}, 0, {0, 0, 0, 0}};
    switch (lane->op) {
    case QZ_OP_OPEN_LID:
        qz_clear_table(board);
        board->where.surface = QZ_SURFACE_COLLECTING;
        break;
    case QZ_OP_CLOSE_LID:
        if (lane->from_surface == QZ_SURFACE_COLLECTING) { /* else somebody opened it by hand */
            board->where.surface = QZ_SURFACE_CLEAR;
        }
        board->where.lid_closed = true;
        break;
    case QZ_OP_START_BUILD:
        board->where.magazine = QZ_MAGAZINE_READY;
        qz_quad_copy(ended.values, board->where.stacks);
        ended.length = QZ_PLACES;
        break;
    case QZ_OP_RAISE_WALLS:
        qz_walls_from_magazine(board);
        qz_nothing_drawn(board);
        board->where.surface = QZ_SURFACE_WALLS_UP;
        qz_magazine_leaves(board);
        qz_quad_copy(ended.values, board->where.walls);
        ended.length = QZ_PLACES;
        break;
    case QZ_OP_DEAL:
        if (lane->from_surface != QZ_SURFACE_WALLS_UP) {
            qz_walls_from_magazine(board);
            qz_nothing_drawn(board);
            qz_magazine_leaves(board);
        }
        board->where.surface = QZ_SURFACE_DEALT;
        qz_quad_copy(board->dealt, lane->args);
        board->where.taken = true;
        qz_quad_copy(ended.values, lane->args);
        ended.length = QZ_PLACES;
        break;
    case QZ_OP_LOWER:
        if (board->where.walls[0] | board->where.walls[1] | board->where.walls[2] | board->where.walls[3]) {
            qz_quad_copy(board->where.stacks, board->where.walls);
        }
        qz_quad_clear(board->where.walls);
        board->where.surface = QZ_SURFACE_CLEAR;
        board->where.magazine = QZ_MAGAZINE_READY;
        break;
    case QZ_OP_ROLL_DICE:
        ended.values[0] = board->dice[0] = die(board);
        ended.values[1] = board->dice[1] = die(board);
        ended.length = 2;
        break;
    case QZ_OP_FLIP_INDICATOR:
        board->indicator = true;
        break;
    case QZ_OP_JOG: /* nobody opened it but us */
        board->where.lid_closed = qz_on(board, QZ_IN_LID_CLOSED);
        break;
    default:
        break;
    }
    lane->mode = QZ_MODE_IDLE;
    lane->op = 0;
    qz_set_outputs(board);
    qz_board_ended(board, &ended);
}
