/* What SEL chooses: the place that a tile is fed to, and the tipping of unfinished stacks. */
#include "parts.h"

#define PAUSE_MS 100u /* heads run out before tiles are fed and counted */
#define TIP_REST_MS 300u

void qz_select_place(qz_board_t *board, uint8_t place) {
    board->outputs = (board->outputs & (uint8_t)~(QZ_OUT_SEL0 | QZ_OUT_SEL1)) | (uint8_t)(place << 6);
}

bool qz_select_in_use(const qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    return lane->mode == QZ_MODE_RUNS && lane->phase >= CHOOSE && lane->phase <= TOOL_REST;
}

bool qz_tip(qz_lane_t *lane) {
    const uint16_t longest =
        lane->phase == TIP_AIM ? SELECT_MS : lane->phase == TIP_PULSE ? TOOL_MS : TIP_REST_MS;
    if (lane->in_phase < longest) {
        return false;
    }
    if (lane->phase == TIP_REST) {
        return true;
    }
    qz_enter(lane, (uint8_t)(lane->phase + 1));
    return false;
}

bool qz_tip_runs(const qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_DRUM];
    return lane->mode == QZ_MODE_RUNS && lane->phase >= TIP_AIM && lane->phase <= TIP_REST;
}

bool qz_feeding(const qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    return lane->mode == QZ_MODE_RUNS && lane->phase >= CHOOSE && lane->phase <= FEED_COUNT;
}

void qz_choose(qz_board_t *board, qz_lane_t *lane, uint16_t in_phase) {
    if (board->turn & PENDING) {
        qz_enter(lane, FEED_COUNT);
        return;
    }
    if (board->lanes[QZ_LANE_OF_DRUM].mode == QZ_MODE_RUNS && (qz_tip_runs(board) || in_phase < PAUSE_MS)) {
        if (qz_tip_runs(board)) {
            lane->in_phase = 0;
        }
        return;
    }
    for (uint8_t n = 0; n < QZ_PLACES; n++) {
        const uint8_t place = (uint8_t)(board->turn + n) & (QZ_PLACES - 1);
        if (board->dealt[place] < lane->args[place]) {
            board->turn = place;
            qz_select_place(board, place);
            qz_enter(lane, FEED_AIM);
            return;
        }
    }
    qz_finish(board, QZ_LANE_OF_SURFACE);
}

void qz_count_tile(qz_board_t *board) {
    const uint8_t place = board->turn & (QZ_PLACES - 1);
    qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    board->dealt[place]++;
    board->turn = (uint8_t)(place + 1) & (QZ_PLACES - 1);
    if (lane->mode == QZ_MODE_RUNS) {
        qz_enter(lane, CHOOSE);
        lane->in_phase = PAUSE_MS; /* the heads stand already */
    }
}
