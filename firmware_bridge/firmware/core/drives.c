/* Lift and lid: which way, how far, how long. */
#include "bytes.h"
#include "parts.h"

/* The switch that says the goal is reached, in `lane`'s present phase; 0: none does. */
static uint16_t goal(const qz_lane_t *lane) {
    switch (lane->op) {
    case QZ_OP_OPEN_LID:
        return QZ_IN_LID_OPEN;
    case QZ_OP_CLOSE_LID:
        return lane->phase < LEVEL ? QZ_IN_LID_CLOSED : QZ_IN_LIFT_BOTTOM;
    case QZ_OP_RAISE_WALLS:
    case QZ_OP_DEAL:
        return QZ_IN_LIFT_TOP;
    case QZ_OP_JOG:
        return lane->args[0] == 1 ? (lane->args[2] & 0x80u ? QZ_IN_LID_CLOSED : QZ_IN_LID_OPEN)
                                  : (lane->args[2] & 0x80u ? QZ_IN_LIFT_BOTTOM : QZ_IN_LIFT_TOP);
    default:
        return QZ_IN_LIFT_BOTTOM;
    }
}

static void arrived(qz_board_t *board, qz_lane_t *lane) {
    if (lane->op == QZ_OP_DEAL) {
        board->outputs &= (uint8_t)~MOTORS;
        qz_enter(lane, CHOOSE);
    } else if (lane->op == QZ_OP_CLOSE_LID && lane->phase < DROP &&
               lane->from_surface == QZ_SURFACE_COLLECTING) {
        qz_enter(lane, DROP);
    } else {
        qz_finish(board, QZ_LANE_OF_SURFACE);
    }
}

static uint16_t jog_ms(const qz_board_t *board, const qz_lane_t *lane) {
    const uint16_t steps = qz_get_u16(lane->args + QZ_ARGS_JOG_STEPS);
    const uint16_t asked = qz_at_most((uint32_t)(steps & 0x8000u ? 0u - steps : steps) * 10u);
    const uint16_t most = qz_timeout_ms(board, QZ_OP_JOG);
    return asked < most ? asked : most;
}

/* Whether the goal is reached. At its other end too it is not: a switch lies, which ends the motion. */
static bool at_goal(qz_board_t *board, qz_lane_t *lane) {
    const uint16_t reached = goal(lane);
    const bool up = (reached & (QZ_IN_LID_OPEN | QZ_IN_LIFT_TOP)) != 0;
    const uint16_t other = (uint16_t)(up ? reached << 1 : reached >> 1);
    if (!qz_on(board, reached)) {
        return false;
    }
    if (qz_on(board, other)) {
        qz_fail(board, QZ_LANE_OF_SURFACE, QZ_FAULT_SENSOR_STUCK, QZ_NO_PLACE, 0);
        return true;
    }
    arrived(board, lane);
    return true;
}

void qz_drive(qz_board_t *board, qz_lane_t *lane, uint16_t in_phase) {
    const uint16_t reached = goal(lane);
    if (at_goal(board, lane)) {
        return;
    }
    if (lane->op == QZ_OP_JOG) {
        if (in_phase >= jog_ms(board, lane)) {
            qz_finish(board, QZ_LANE_OF_SURFACE);
        }
    } else if (in_phase >= qz_timeout_ms(board, lane->op)) {
        const bool lid = (reached & (QZ_IN_LID_OPEN | QZ_IN_LID_CLOSED)) != 0;
        qz_fail(board, QZ_LANE_OF_SURFACE, lid ? QZ_FAULT_LID_TIMEOUT : QZ_FAULT_LIFT_TIMEOUT,
                QZ_NO_PLACE, 0);
    }
}

void qz_aim(qz_board_t *board, qz_lane_t *lane) {
    if (goal(lane) & (QZ_IN_LID_OPEN | QZ_IN_LIFT_TOP)) {
        board->outputs |= QZ_OUT_DIR;
    } else {
        board->outputs &= (uint8_t)~QZ_OUT_DIR;
    }
    qz_enter(lane, (uint8_t)(lane->phase + 1));
}

void qz_set_out(qz_board_t *board, qz_lane_t *lane) {
    if (lane->op == QZ_OP_JOG || !at_goal(board, lane)) {
        qz_enter(lane, REST);
    }
}
