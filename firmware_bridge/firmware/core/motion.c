/* The lanes in time: phase by phase, and the outputs that each phase wants. */
#include <string.h>

#include "parts.h"

#define DEAD_MS 20u
#define FEED_MS 20u
#define DROP_MS 300u

void qz_enter(qz_lane_t *lane, uint8_t phase) {
    lane->phase = phase;
    lane->in_phase = 0;
}

void qz_set_outputs(qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    const qz_lane_t *const drum = &board->lanes[QZ_LANE_OF_DRUM];
    uint8_t out = board->outputs & (uint8_t)~MOTORS;
    if (lane->mode == QZ_MODE_RUNS) {
        if (lane->phase == DRIVE) {
            const bool lid = lane->op == QZ_OP_OPEN_LID || lane->op == QZ_OP_CLOSE_LID ||
                             (lane->op == QZ_OP_JOG && lane->args[0] == 1);
            out |= lid ? QZ_OUT_LID : QZ_OUT_LIFT;
        } else if (lane->phase == LEVEL_DRIVE) {
            out |= QZ_OUT_LIFT;
        } else if (lane->phase == FEED_PULSE) {
            out |= QZ_OUT_FEED;
        } else if (lane->phase == TOOL_PULSE || lane->phase == TIP_PULSE) {
            out |= QZ_OUT_TOOL;
        }
    }
    if (qz_building(board)) {
        out |= QZ_OUT_BUILD;
    }
    if (drum->mode == QZ_MODE_RUNS && drum->phase == TIP_PULSE) {
        out |= QZ_OUT_TOOL;
    }
    board->outputs = out;
}

static void surface_tick(qz_board_t *board) {
    qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    const uint16_t in_phase = lane->in_phase;
    switch (lane->phase) {
    case START:
        if (board->memory_dirty) {
            break;
        }
        if (lane->op == QZ_OP_ROLL_DICE || lane->op == QZ_OP_FLIP_INDICATOR) {
            if (!qz_tip_runs(board)) {
                qz_select_place(board, lane->op == QZ_OP_FLIP_INDICATOR ? SEL_INDICATOR : SEL_DICE);
                qz_enter(lane, TOOL_AIM);
            }
        } else if (lane->op == QZ_OP_LOWER && board->where.magazine != QZ_MAGAZINE_READY) {
            qz_select_place(board, SEL_TIP); /* unfinished stacks make room */
            qz_enter(lane, TIP_AIM);
        } else {
            qz_set_out(board, lane);
        }
        break;
    case TIP_AIM:
    case TIP_PULSE:
    case TIP_REST:
        if (qz_tip(lane)) {
            qz_set_out(board, lane);
        }
        break;
    case REST:
    case LEVEL:
        if (in_phase >= DEAD_MS) {
            qz_aim(board, lane);
        }
        break;
    case AIM:
    case LEVEL_AIM:
        if (in_phase >= DEAD_MS) {
            qz_enter(lane, (uint8_t)(lane->phase + 1));
        }
        break;
    case DRIVE:
    case LEVEL_DRIVE:
        qz_drive(board, lane, in_phase);
        break;
    case DROP:
        if (in_phase >= DROP_MS) {
            qz_enter(lane, LEVEL);
            if (qz_on(board, QZ_IN_LIFT_BOTTOM)) {
                qz_finish(board, QZ_LANE_OF_SURFACE);
            }
        }
        break;
    case CHOOSE:
        qz_choose(board, lane, in_phase);
        break;
    case FEED_AIM:
        if (in_phase >= SELECT_MS) {
            board->turn |= PENDING;
            qz_enter(lane, FEED_PULSE);
        }
        break;
    case FEED_PULSE:
        if (in_phase >= FEED_MS) {
            qz_enter(lane, FEED_COUNT);
        }
        break;
    case FEED_COUNT:
        if (in_phase >= qz_stall_ms(board, QZ_OP_DEAL, 5)) {
            qz_fail(board, QZ_LANE_OF_SURFACE, QZ_FAULT_JAM, board->turn & (QZ_PLACES - 1), 0);
        }
        break;
    case TOOL_AIM:
        if (in_phase >= SELECT_MS) {
            qz_enter(lane, TOOL_PULSE);
        }
        break;
    case TOOL_PULSE:
        if (in_phase >= TOOL_MS) {
            qz_enter(lane, TOOL_REST);
        }
        break;
    case TOOL_REST:
        if (in_phase + TOOL_MS >= qz_timeout_ms(board, lane->op)) {
            qz_finish(board, QZ_LANE_OF_SURFACE);
        }
        break;
    default:
        break;
    }
}

void qz_motion_tick(qz_board_t *board, uint8_t elapsed_ms, uint16_t inputs) {
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        qz_lane_t *const lane = &board->lanes[n];
        if (lane->in_phase < LONGEST_MS) {
            lane->in_phase = (uint16_t)(lane->in_phase + elapsed_ms);
        }
    }
    qz_inputs_debounce(board, elapsed_ms, inputs);
    qz_inputs_count(board, elapsed_ms);
    qz_inputs_watch(board, elapsed_ms);
    if (board->lanes[QZ_LANE_OF_SURFACE].mode == QZ_MODE_RUNS) {
        surface_tick(board);
    }
    if (board->lanes[QZ_LANE_OF_DRUM].mode == QZ_MODE_RUNS) {
        qz_drum_tick(board);
    }
    qz_inputs_look(board);
    qz_set_outputs(board);
}

static void restore(qz_board_t *board, const qz_memory_t *memory) {
    qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    board->where = memory->where;
    if (memory->op[QZ_LANE_OF_DRUM]) {
        qz_scatter(board, true);
    }
    lane->op = memory->op[QZ_LANE_OF_SURFACE];
    lane->from_surface = memory->from_surface;
    if (lane->op == QZ_OP_RAISE_WALLS || lane->op == QZ_OP_LOWER) {
        qz_cut(board, lane);
    } else if (lane->op) {
        qz_give_up(board, lane);
    }
}

void qz_motion_init(qz_board_t *board, const qz_memory_t *memory) {
    qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    if (memory != NULL && memory->known == QZ_MEMORY_KNOWN) {
        restore(board, memory);
    } else {
        board->where.surface = QZ_SURFACE_CLEAR;
        board->where.magazine = QZ_MAGAZINE_EMPTY;
        board->where.lid_closed = true;
    }
    board->where.lid_closed = board->where.lid_closed && qz_on(board, QZ_IN_LID_CLOSED);
    /* A lift that is not where it is remembered was cut. */
    if (lane->mode == QZ_MODE_IDLE &&
        ((board->where.surface == QZ_SURFACE_CLEAR && !qz_on(board, QZ_IN_LIFT_BOTTOM)) ||
         (board->where.surface == QZ_SURFACE_WALLS_UP && !qz_on(board, QZ_IN_LIFT_TOP)))) {
        lane->op = QZ_OP_LOWER;
        lane->from_surface = QZ_SURFACE_WALLS_UP;
        qz_cut(board, lane);
    }
    qz_inputs_look(board);
}
