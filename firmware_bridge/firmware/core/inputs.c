/* Inputs: debounced, counted, and held against each other. */
#include "parts.h"

#define COUNT_BOUNCE_MS 3u
#define SWITCH_BOUNCE_MS 10u
#define STUCK_MS 1000u /* a stack or a tile passes a sensor in far less */
#define BOTH_MS 100u   /* a switch that just opens may overlap with nothing */

#define COUNTS (QZ_IN_COUNT0 | QZ_IN_COUNT1 | QZ_IN_COUNT2 | QZ_IN_COUNT3)

bool qz_on(const qz_board_t *board, uint16_t input) {
    return (board->inputs & input) != 0;
}

static uint16_t count_input(uint8_t place) {
    return (uint16_t)(QZ_IN_COUNT0 << place);
}

void qz_inputs_debounce(qz_board_t *board, uint8_t elapsed_ms, uint16_t inputs) {
    uint16_t bit = 1;
    board->rose = 0;
    for (uint8_t n = 0; n < QZ_INPUTS; n++, bit = (uint16_t)(bit << 1)) {
        uint8_t *const age = &board->age[n];
        if (!((inputs ^ board->inputs) & bit)) {
            *age = 0;
            continue;
        }
        const uint8_t longest = bit & COUNTS ? COUNT_BOUNCE_MS : SWITCH_BOUNCE_MS;
        *age = *age == 0 ? 1 : *age + elapsed_ms > 255 ? 255 : (uint8_t)(*age + elapsed_ms);
        if (*age > longest) {
            *age = 0;
            board->inputs ^= bit;
            board->rose |= board->inputs & bit;
        }
    }
}

void qz_inputs_count(qz_board_t *board, uint8_t elapsed_ms) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    const bool builds = qz_building(board);
    const bool counts = builds || qz_feeding(board);
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        const bool high = qz_on(board, count_input(place));
        if (board->rose & count_input(place)) {
            if (lane->op == QZ_OP_DEAL && board->turn == (PENDING | place)) {
                qz_count_tile(board);
            } else {
                qz_count_stack(board, place);
            }
        }
        if (builds && board->quiet[place] < LONGEST_MS) {
            board->quiet[place] = (uint16_t)(board->quiet[place] + elapsed_ms);
        }
        board->high[place] = (uint16_t)(counts && high ? board->high[place] + elapsed_ms : 0);
        if (board->high[place] >= STUCK_MS) {
            board->high[place] = 0;
            if (qz_building(board)) {
                qz_fail(board, QZ_LANE_OF_DRUM, QZ_FAULT_SENSOR_STUCK, place, 0);
            }
            if (qz_feeding(board)) {
                qz_fail(board, QZ_LANE_OF_SURFACE, QZ_FAULT_SENSOR_STUCK, place, 0);
            }
        }
    }
}

static bool knows(const qz_board_t *board, uint8_t fault) {
    for (uint8_t n = 0; n < board->faults_used; n++) {
        if (board->faults[n].fault == fault) {
            return true;
        }
    }
    return false;
}

/* Lift at the top and at the bottom, or lid open and closed: one of the switches lies. */
void qz_inputs_watch(qz_board_t *board, uint8_t elapsed_ms) {
    const bool lid = qz_on(board, QZ_IN_LID_OPEN) && qz_on(board, QZ_IN_LID_CLOSED);
    const bool lift = qz_on(board, QZ_IN_LIFT_TOP) && qz_on(board, QZ_IN_LIFT_BOTTOM);
    if (!lid && !lift) {
        board->both = 0;
        return;
    }
    if (board->both <= BOTH_MS) {
        board->both = (uint8_t)(board->both + (elapsed_ms > BOTH_MS ? BOTH_MS + 1 : elapsed_ms));
        return;
    }
    if (board->lanes[QZ_LANE_OF_SURFACE].mode == QZ_MODE_RUNS) {
        qz_fail(board, QZ_LANE_OF_SURFACE, QZ_FAULT_SENSOR_STUCK, QZ_NO_PLACE, 0);
        board->both = 0;
    } else if (!knows(board, QZ_FAULT_SENSOR_STUCK)) {
        qz_board_fault(board, (qz_fault_report_t){QZ_FAULT_SENSOR_STUCK, QZ_NO_PLACE, 0});
        board->both = 0;
    }
}

/* What the inputs say of themselves, with no motion that would explain it. */
void qz_inputs_look(qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    const bool closed = qz_on(board, QZ_IN_LID_CLOSED);
    if (lane->mode == QZ_MODE_IDLE ||
        !(lane->op == QZ_OP_OPEN_LID || lane->op == QZ_OP_CLOSE_LID || lane->op == QZ_OP_JOG)) {
        if (board->where.lid_closed && !closed) {
            board->where.lid_closed = false;
            qz_board_opened(board);
        } else if (!board->where.lid_closed && closed && board->where.surface != QZ_SURFACE_COLLECTING) {
            board->where.lid_closed = true;
        }
    }
    if (board->lanes[QZ_LANE_OF_DRUM].mode == QZ_MODE_IDLE && qz_on(board, QZ_IN_DRUM)) {
        board->where.drum = true;
        if (board->where.magazine == QZ_MAGAZINE_EMPTY) {
            board->where.magazine = QZ_MAGAZINE_LOADED;
        }
    }
}
