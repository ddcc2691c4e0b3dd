/* Building: stacks are counted, the drum empties, and what is missing or too much is told. */
#include "parts.h"

#define RUN_ON_MS 300u

bool qz_building(const qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_DRUM];
    return lane->mode == QZ_MODE_RUNS && lane->phase >= BUILD && !qz_feeding(board);
}

static bool all_full(const qz_board_t *board) {
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        if (board->where.stacks[place] < qz_plan(board)[place]) {
            return false;
        }
    }
    return true;
}

static void short_of_tiles(qz_board_t *board) {
    uint8_t place = QZ_NO_PLACE;
    uint8_t gaps = 0;
    uint16_t missing = board->config[QZ_AT_BOARD_CONFIG_DEALT]; /* the drum is empty */
    for (uint8_t n = 0; n < QZ_PLACES; n++) {
        if (board->where.stacks[n] < qz_plan(board)[n]) {
            missing = (uint16_t)(missing + 2u * (qz_plan(board)[n] - board->where.stacks[n]));
            gaps++;
            place = n;
        }
    }
    qz_fail(board, QZ_LANE_OF_DRUM, QZ_FAULT_TILES_SHORT, gaps == 1 ? place : QZ_NO_PLACE,
            missing > 255u ? 255u : (uint8_t)missing);
}

static void stalled(qz_board_t *board, uint8_t place) {
    if (qz_on(board, QZ_IN_DRUM)) {
        qz_fail(board, QZ_LANE_OF_DRUM, QZ_FAULT_JAM, place, 0);
    } else {
        short_of_tiles(board);
    }
}

static void build(qz_board_t *board, qz_lane_t *lane) {
    if (all_full(board)) {
        qz_enter(lane, RUN_ON);
        return;
    }
    const uint16_t longest = qz_stall_ms(board, QZ_OP_START_BUILD, 3);
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        if (board->where.stacks[place] < qz_plan(board)[place] && board->quiet[place] >= longest) {
            stalled(board, place);
            return;
        }
    }
}

void qz_count_stack(qz_board_t *board, uint8_t place) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_DRUM];
    if (lane->op != QZ_OP_START_BUILD || !lane->args[1]) {
        return;
    }
    board->quiet[place] = 0;
    if (board->where.stacks[place] < 255) {
        board->where.stacks[place]++;
    }
    if (board->where.stacks[place] > qz_plan(board)[place] && lane->mode == QZ_MODE_RUNS) {
        qz_fail(board, QZ_LANE_OF_DRUM, QZ_FAULT_TILES_OVER, QZ_NO_PLACE, 0);
    }
}

void qz_drum_tick(qz_board_t *board) {
    qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_DRUM];
    const uint16_t in_phase = lane->in_phase;
    switch (lane->phase) {
    case START:
        if (board->memory_dirty) {
            break;
        }
        if (lane->args[1]) { /* cut while it was building: go on */
            qz_enter(lane, BUILD);
        } else if (!qz_select_in_use(board)) {
            qz_select_place(board, SEL_TIP);
            qz_enter(lane, TIP_AIM);
        }
        break;
    case TIP_AIM:
    case TIP_PULSE:
    case TIP_REST:
        if (qz_tip(lane)) {
            lane->args[1] = 1;
            qz_enter(lane, BUILD);
        }
        break;
    case BUILD:
        if (!qz_feeding(board)) {
            build(board, lane);
        }
        break;
    case RUN_ON:
        if (qz_feeding(board)) {
            lane->in_phase = 0;
        } else if (in_phase >= RUN_ON_MS) {
            const bool loose = qz_on(board, QZ_IN_DRUM);
            if (loose == (board->config[QZ_AT_BOARD_CONFIG_DEALT] != 0)) {
                qz_finish(board, QZ_LANE_OF_DRUM);
            } else if (loose) {
                qz_fail(board, QZ_LANE_OF_DRUM, QZ_FAULT_TILES_OVER, QZ_NO_PLACE, 0);
            } else {
                short_of_tiles(board);
            }
        }
        break;
    default:
        break;
    }
}
