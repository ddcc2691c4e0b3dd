/* Commands: each is carried out once, and the table of their ids tells what became of it. */
#include <string.h>

#include "interlock.h"
#include "parts.h"

qz_record_t *qz_find_record(qz_board_t *board, uint32_t cmd_id) {
    for (uint8_t n = 0; n < QZ_RECORDS; n++) {
        if (board->records[n].cmd_id == cmd_id && board->records[n].result != 0) {
            return &board->records[n];
        }
    }
    return NULL;
}

/* In place of the oldest; a running one is never forgotten, and at most two run. */
static qz_record_t *remember(qz_board_t *board, uint32_t cmd_id, uint8_t result, uint8_t code) {
    qz_record_t *record;
    do {
        record = &board->records[board->record_next];
        board->record_next = (uint8_t)(board->record_next + 1) % QZ_RECORDS;
    } while (record->result == QZ_RESULT_RUNNING);
    if (record->cmd_id > board->forgotten) {
        board->forgotten = record->cmd_id;
    }
    memset(record, 0, sizeof *record);
    record->cmd_id = cmd_id;
    record->result = result;
    record->code = code;
    return record;
}

void qz_close_record(qz_board_t *board, uint32_t cmd_id, uint8_t result, uint8_t code, const uint8_t *values,
                     uint8_t length) {
    qz_record_t *const record = qz_find_record(board, cmd_id);
    if (record == NULL) {
        return;
    }
    record->result = result;
    record->code = code;
    record->time = board->now - record->time;
    record->length = length;
    if (length != 0) {
        memcpy(record->values, values, length);
    }
    qz_revise(board);
    board->status_due = true;
    qz_new_event(board, board->state_rev)->record = *record;
}

/* Why this command is refused; 0: it is not. */
static uint8_t examine(qz_board_t *board, const qz_cmd_t *cmd) {
    if (cmd->op < QZ_OP_FIRST || cmd->op > QZ_OP_LAST || cmd->op == QZ_OP_LAMP) {
        return QZ_REASON_UNSUPPORTED;
    }
    if (cmd->args_len != qz_flash_u8(&qz_args_size[cmd->op]) ||
        (cmd->op == QZ_OP_START_BUILD && cmd->args[QZ_ARGS_START_BUILD_MODE] != 0) ||
        (cmd->op == QZ_OP_JOG && cmd->args[QZ_ARGS_JOG_AXIS] > 1)) {
        return QZ_REASON_BAD_ARGUMENTS;
    }
    qz_revise(board);
    if (cmd->rev != board->state_rev &&
        (cmd->rev != QZ_ANY_REV || qz_rule_has(cmd->op, QZ_RULE_NAMES_REV))) {
        return QZ_REASON_STALE_STATE;
    }
    return qz_board_may_move(board, cmd->op, cmd->args);
}

static void begin(qz_board_t *board, const qz_cmd_t *cmd, qz_record_t *record) {
    qz_end_hold(board);
    if (cmd->op == QZ_OP_RESUME) {
        record->length = QZ_PLACES + 1; /* until its end: brings no values back */
        qz_motion_resume(board, cmd->cmd_id);
        return;
    }
    qz_effect_t change;
    qz_effect_of(cmd->op, board->where.surface, &change);
    if (change.flags & QZ_EFFECT_LOCK_FIRST) {
        board->locked = true;
    }
    qz_motion_begin(board, cmd->op, cmd->args, cmd->args_len, cmd->cmd_id);
}

static void leave(qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    /* What was being raised or dealt counts as dealt: somebody may play it. */
    if (lane->mode == QZ_MODE_CUT && (lane->op == QZ_OP_RAISE_WALLS || lane->op == QZ_OP_DEAL)) {
        qz_latch(board, lane->op, lane->from_surface, NULL);
    }
    qz_motion_leave(board);
    qz_end_hold(board);
}

static void execute(qz_board_t *board, const qz_cmd_t *cmd, qz_record_t *record) {
    board->executed++;
    switch (cmd->op) {
    case QZ_OP_ADOPT:
    case QZ_OP_START:
    case QZ_OP_RELEASE_INTAKE:
        qz_latch(board, cmd->op, board->where.surface, cmd->args);
        break;
    case QZ_OP_CLEAR:
        board->estop = false;
        board->faults_used = 0;
        break;
    case QZ_OP_LEAVE:
        leave(board);
        break;
    default:
        begin(board, cmd, record);
        qz_revise(board);
        qz_keep_memory(board);
        return;
    }
    qz_close_record(board, cmd->cmd_id, QZ_RESULT_DONE, 0, NULL, 0);
    qz_keep_memory(board);
}

static void acknowledge(qz_board_t *board, const qz_frame_t *frame, uint32_t cmd_id, uint8_t verdict,
                        uint8_t result, uint8_t code) {
    if (qz_out_answer(board, frame, QZ_KIND_CMD_ACK, QZ_CMD_ACK_SIZE)) {
        qz_out_u32(board, cmd_id);
        qz_out_u8(board, verdict);
        qz_out_u8(board, result);
        qz_out_u8(board, code);
        qz_out_u32_at(board, &board->state_rev);
        qz_out_end(board);
    }
}

void qz_command(qz_board_t *board, const qz_frame_t *frame) {
    qz_cmd_t cmd;
    if (!qz_cmd_read(frame->payload, frame->length, &cmd)) {
        return;
    }
    qz_record_t *record = qz_find_record(board, cmd.cmd_id);
    if (record != NULL && record->result != QZ_RESULT_NEVER_SEEN) {
        acknowledge(board, frame, cmd.cmd_id, QZ_VERDICT_DUPLICATE, record->result, record->code);
        return;
    }
    if (record != NULL || cmd.cmd_id <= board->last_seen || cmd.cmd_id <= board->forgotten) {
        acknowledge(board, frame, cmd.cmd_id, QZ_VERDICT_REJECTED, QZ_RESULT_REJECTED, QZ_REASON_STALE_ID);
        return;
    }
    board->last_seen = cmd.cmd_id;
    const uint8_t reason = examine(board, &cmd);
    if (reason != 0) {
        remember(board, cmd.cmd_id, QZ_RESULT_REJECTED, reason);
        acknowledge(board, frame, cmd.cmd_id, QZ_VERDICT_REJECTED, QZ_RESULT_REJECTED, reason);
        return;
    }
    record = remember(board, cmd.cmd_id, QZ_RESULT_RUNNING, 0);
    record->time = board->now;
    board->memory.last_id = cmd.cmd_id;
    board->memory_dirty = true;
    acknowledge(board, frame, cmd.cmd_id, QZ_VERDICT_ACCEPTED, QZ_RESULT_RUNNING, 0);
    execute(board, &cmd, record);
}

void qz_query(qz_board_t *board, const qz_frame_t *frame) {
    qz_query_t asked;
    if (!qz_query_read(frame->payload, frame->length, &asked)) {
        return;
    }
    qz_record_t told;
    memset(&told, 0, sizeof told);
    told.cmd_id = asked.cmd_id;
    const qz_record_t *const record = qz_find_record(board, asked.cmd_id);
    if (record != NULL) {
        told = *record;
        if (told.result == QZ_RESULT_RUNNING) { /* what it holds of time and values is not for others */
            told.time = 0;
            told.length = 0;
        }
    } else if (asked.cmd_id != 0 &&
               (asked.cmd_id == board->interrupted[0] || asked.cmd_id == board->interrupted[1])) {
        told.result = QZ_RESULT_INTERRUPTED;
    } else if (asked.cmd_id <= board->forgotten) {
        told.result = QZ_RESULT_EXPIRED;
    } else {
        told.result = QZ_RESULT_NEVER_SEEN;
        if (asked.close) {
            remember(board, asked.cmd_id, QZ_RESULT_NEVER_SEEN, 0);
        }
    }
    if (qz_out_answer(board, frame, QZ_KIND_OUTCOME, (uint8_t)(QZ_OUTCOME_SIZE + told.length))) {
        qz_out_record(board, &told, board->state_rev);
        qz_out_end(board);
    }
}
