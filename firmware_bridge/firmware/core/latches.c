/* What the board holds on to by itself: lock and hand, faults, the stop; and what cuts a motion. */
#include <string.h>

#include "bytes.h"
#include "interlock.h"
#include "parts.h"

void qz_latch(qz_board_t *board, uint8_t op, uint8_t surface, const uint8_t *args) {
    qz_effect_t change;
    qz_effect_of(op, surface, &change);
    if (change.locked != QZ_ANY) {
        board->locked = change.locked != 0;
    }
    switch (change.hand) {
    case QZ_HAND_EFFECT_ZERO:
        board->hand_no = 0;
        board->has_hand = true;
        break;
    case QZ_HAND_EFFECT_GIVEN:
        board->hand_no = qz_get_u32(args + QZ_ARGS_ADOPT_HAND);
        board->has_hand = true;
        break;
    case QZ_HAND_EFFECT_NEXT:
        board->hand_no = board->has_hand ? board->hand_no + 1 : 1;
        board->has_hand = true;
        break;
    default:
        break;
    }
}

static bool has_fault(const qz_board_t *board, uint8_t fault) {
    return (qz_faults_of(board) & QZ_FAULTS(fault)) != 0;
}

static void add_fault(qz_board_t *board, const qz_fault_report_t *report) {
    for (uint8_t n = 0; n < board->faults_used; n++) {
        if (board->faults[n].fault == report->fault && board->faults[n].place == report->place) {
            board->faults[n] = *report;
            return;
        }
    }
    if (board->faults_used < QZ_FAULTS_MAX) {
        board->faults[board->faults_used++] = *report;
    }
}

/* A motion that begins or is given up ends the faults that only say that it was cut. */
void qz_end_hold(qz_board_t *board) {
    uint8_t kept = 0;
    for (uint8_t n = 0; n < board->faults_used; n++) {
        const uint8_t fault = board->faults[n].fault;
        if (fault != QZ_FAULT_LEASE_EXPIRED && fault != QZ_FAULT_HELD && fault != QZ_FAULT_ESTOPPED) {
            board->faults[kept++] = board->faults[n];
        }
    }
    board->faults_used = kept;
}

void qz_cut_all(qz_board_t *board, uint8_t fault, uint8_t code) {
    uint32_t ids[QZ_LANES];
    if (!qz_motion_any(board, QZ_MODE_RUNS)) {
        return;
    }
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        ids[n] = board->lanes[n].mode == QZ_MODE_RUNS ? board->lanes[n].cmd_id : 0;
    }
    qz_motion_stop(board);
    if (!has_fault(board, fault)) {
        const qz_fault_report_t report = {fault, QZ_NO_PLACE, 0};
        add_fault(board, &report);
    }
    qz_event(board, code, NULL, 0);
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (ids[n] != 0 && (n == 0 || ids[1] != ids[0])) { /* one RESUME may have moved both */
            qz_close_record(board, ids[n], QZ_RESULT_ABORTED, fault, NULL, 0);
        }
    }
}

static void latch_stop(qz_board_t *board) {
    if (!board->estop) {
        board->estop = true;
        qz_event(board, QZ_EVENT_ESTOP, NULL, 0);
    }
    qz_cut_all(board, QZ_FAULT_ESTOPPED, QZ_EVENT_HELD);
    qz_decoder_forget(&board->decoder);
    qz_revise(board);
    /* Also where one is latched already: a CLEAR that was sent for the earlier must not end the later. */
    board->state_rev++;
    board->detail_rev++;
    board->status_due = true;
}

/* A stop that an interrupt saw. */
void qz_obey_stop(qz_board_t *board) {
    if (board->stopped) {
        board->stopped = false; /* first: one that comes now is obeyed once more */
        latch_stop(board);
    }
}

void qz_watch_lease(qz_board_t *board) {
    if (board->lease_left == 0) {
        qz_cut_all(board, QZ_FAULT_LEASE_EXPIRED, QZ_EVENT_LEASE_EXPIRED);
    }
}

/* Whoever lets the service key go wants it to end. */
void qz_watch_key(qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    if (lane->mode == QZ_MODE_RUNS && !qz_service_key(board) && qz_rule_has(lane->op, QZ_RULE_SERVICE)) {
        qz_cut_all(board, QZ_FAULT_HELD, QZ_EVENT_HELD);
    }
}

void qz_board_fault(qz_board_t *board, qz_fault_report_t report) {
    const uint8_t args[3] = {report.fault, report.place, report.count};
    add_fault(board, &report);
    qz_event(board, QZ_EVENT_FAULT, args, sizeof args);
}

void qz_board_opened(qz_board_t *board) {
    qz_event(board, QZ_EVENT_INTAKE_OPENED_EARLY, NULL, 0);
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (board->lanes[n].mode == QZ_MODE_RUNS && qz_lid_for(board->lanes[n].op) == QZ_LID_CLOSED) {
            qz_cut_all(board, QZ_FAULT_HELD, QZ_EVENT_HELD);
        }
    }
}

void qz_board_ended(qz_board_t *board, const qz_ended_t *ended) {
    const uint32_t cmd_id = board->lanes[ended->lane].cmd_id;
    const qz_lane_t *const other = &board->lanes[ended->lane ^ 1];
    qz_record_t *const record = qz_find_record(board, cmd_id);
    if (ended->report.fault == 0) {
        qz_latch(board, ended->op, ended->from_surface, NULL);
    } else {
        if (record != NULL) {
            record->code = ended->report.fault;
        }
        qz_board_fault(board, ended->report);
    }
    if (record == NULL || (other->mode == QZ_MODE_RUNS && other->cmd_id == cmd_id)) {
        return; /* a RESUME of both lanes ends with the second */
    }
    /* The values of a motion that was resumed belong to the command that was cut. */
    const uint8_t length = record->length == QZ_PLACES + 1 ? 0 : ended->length;
    qz_close_record(board, cmd_id, record->code ? QZ_RESULT_FAILED : QZ_RESULT_DONE, record->code,
                    ended->values, length);
}
