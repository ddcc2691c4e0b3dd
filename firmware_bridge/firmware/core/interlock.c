#include "interlock.h"

#include <string.h>

#include "bytes.h"

static bool known(uint8_t op) {
    return op > 0 && op < QZ_RULES;
}

static bool blocked(const qz_state_t *state, uint8_t op) {
    for (uint8_t n = 0; n < QZ_BLOCKS; n++) {
        if ((state->faults >> n & 1) && (qz_flash_u32(&qz_blocks[n]) >> op & 1)) {
            return true;
        }
    }
    return false;
}

static uint8_t latches(const qz_state_t *state, uint8_t op, const qz_rule_t *rule) {
    if (state->estop && !(rule->flags & QZ_RULE_UNDER_ESTOP)) {
        return QZ_REASON_ESTOP;
    }
    return blocked(state, op) ? QZ_REASON_FAULT : 0;
}

static uint8_t hand(const qz_state_t *state, const qz_rule_t *rule, const uint8_t *args) {
    if (rule->hand == QZ_HAND_ANY) {
        return 0;
    }
    if (rule->hand == QZ_HAND_NONE) {
        return state->has_hand_no ? QZ_REASON_ALREADY_STARTED : 0;
    }
    if (!state->has_hand_no) {
        return QZ_REASON_NOT_STARTED;
    }
    /* RELEASE_INTAKE is the only one of these; its hand is its first argument. */
    if (rule->hand == QZ_HAND_SAME &&
        (args == NULL || qz_get_u32(args + QZ_ARGS_RELEASE_INTAKE_HAND) != state->hand_no)) {
        return QZ_REASON_WRONG_HAND;
    }
    return 0;
}

static bool busy(const qz_state_t *state, const qz_rule_t *rule) {
    if (rule->flags & QZ_RULE_STILL) {
        return state->running != 0;
    }
    if (state->running & rule->not_during) {
        return true;
    }
    if (rule->lane == QZ_LANE_NONE) {
        return false;
    }
    for (uint8_t other = 1; other < QZ_RULES; other++) {
        if ((state->running >> other & 1) && qz_lane_of(other) == rule->lane) {
            return true;
        }
    }
    return false;
}

static bool nobody(uint8_t op, const uint8_t *args) {
    if (args == NULL) {
        return false;
    }
    return args[op == QZ_OP_JOG ? QZ_ARGS_JOG_NOBODY : QZ_ARGS_HOME_NOBODY] == 1;
}

static uint8_t motion(const qz_state_t *state, uint8_t op, const qz_rule_t *rule, const uint8_t *args) {
    const bool moves = rule->lane != QZ_LANE_NONE;
    if ((rule->flags & QZ_RULE_UNLOCKED) && state->locked) {
        return QZ_REASON_INTERLOCK;
    }
    if (state->hold && moves && !(rule->flags & QZ_RULE_WORKS_HELD)) {
        return QZ_REASON_HOLD;
    }
    if ((rule->flags & QZ_RULE_NEEDS_HOLD) && !state->hold) {
        return QZ_REASON_NOTHING_CUT;
    }
    if (busy(state, rule)) {
        return QZ_REASON_BUSY;
    }
    if (moves && !state->lease) {
        return QZ_REASON_NO_LEASE;
    }
    if ((rule->flags & QZ_RULE_SERVICE) && !(state->service && nobody(op, args))) {
        return QZ_REASON_SERVICE_KEY;
    }
    return 0;
}

/* The built stacks equal the plan, and a deal hands out some tiles, but no more than there are. */
static bool counts_fit(const qz_state_t *state, uint8_t op, const uint8_t *args) {
    const uint8_t *stacks = state->surface == QZ_SURFACE_WALLS_UP ? state->walls : state->stacks;
    const uint8_t *plan = state->plan;
    uint16_t built = 0;
    uint16_t dealt = 0;
    if (op == QZ_OP_RAISE_WALLS && args != NULL) {
        for (uint8_t place = 0; place < QZ_PLACES; place++) {
            if (args[QZ_ARGS_RAISE_WALLS_STACKS + place] != 0) {
                plan = args + QZ_ARGS_RAISE_WALLS_STACKS;
            }
        }
    }
    if (memcmp(stacks, plan, QZ_PLACES) != 0) {
        return false;
    }
    if (op != QZ_OP_DEAL) {
        return true;
    }
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        built = (uint16_t)(built + stacks[place]);
        dealt = (uint16_t)(dealt + (args == NULL ? 0 : args[QZ_ARGS_DEAL_TILES + place]));
    }
    return dealt > 0 && dealt <= 2 * built;
}

/* Reasons in the order of the checks: what the case that came furthest failed by. */
static uint8_t cases(const qz_state_t *state, uint8_t op, const qz_rule_t *rule, const uint8_t *args) {
    uint8_t reason = QZ_REASON_HOLD;
    bool uncounted = false;
    for (uint8_t n = 0; n < rule->case_count; n++) {
        qz_case_t one;
        qz_flash_copy(&one, &qz_cases[rule->case_first + n], sizeof one);
        if (state->hold ? !(state->cut & one.cut) : one.cut != 0) {
            continue;
        }
        if (!(one.surfaces >> state->surface & 1)) {
            reason = reason < QZ_REASON_SURFACE ? QZ_REASON_SURFACE : reason;
        } else if (!(one.magazines >> state->magazine & 1)) {
            reason = reason < QZ_REASON_MAGAZINE ? QZ_REASON_MAGAZINE : reason;
        } else {
            reason = QZ_REASON_COUNTS;
            uncounted = uncounted || !one.counts;
        }
    }
    if (reason < QZ_REASON_COUNTS) {
        return reason;
    }
    if ((rule->flags & QZ_RULE_UNTAKEN) && state->taken) {
        return QZ_REASON_TILES_TAKEN;
    }
    return uncounted || counts_fit(state, op, args) ? 0 : QZ_REASON_COUNTS;
}

/* What was cut goes on only where it might begin. A service motion never does: its word was given once. */
static uint8_t resumable(const qz_state_t *state) {
    uint8_t reason = 0;
    for (uint8_t op = 1; op < QZ_RULES; op++) {
        if (!(state->cut >> op & 1)) {
            continue;
        }
        if (qz_rule_has(op, QZ_RULE_SERVICE)) {
            return QZ_REASON_SERVICE_KEY;
        }
        const uint8_t lid = qz_lid_for(op);
        if (lid != QZ_ANY && lid != state->lid) {
            reason = QZ_REASON_LID;
        }
    }
    return reason;
}

static uint8_t place(const qz_state_t *state, uint8_t op, const qz_rule_t *rule, const uint8_t *args) {
    if (rule->lid != QZ_ANY && state->lid != rule->lid) {
        return QZ_REASON_LID;
    }
    if (op == QZ_OP_RESUME) {
        return resumable(state);
    }
    if (op == QZ_OP_CLEAR && !state->estop && state->faults == 0) {
        return QZ_REASON_NOTHING_TO_CLEAR;
    }
    return rule->case_count == 0 ? 0 : cases(state, op, rule, args);
}

uint8_t qz_may_move(const qz_state_t *state, uint8_t op, const uint8_t *args) {
    qz_rule_t rule;
    uint8_t reason;
    if (!known(op)) {
        return QZ_REASON_UNSUPPORTED;
    }
    qz_flash_copy(&rule, &qz_rules[op], sizeof rule);
    reason = latches(state, op, &rule);
    if (reason == 0) {
        reason = hand(state, &rule, args);
    }
    if (reason == 0) {
        reason = motion(state, op, &rule, args);
    }
    if (reason == 0) {
        reason = place(state, op, &rule, args);
    }
    return reason;
}

uint8_t qz_lane_of(uint8_t op) {
    return known(op) ? qz_flash_u8(&qz_rules[op].lane) : QZ_LANE_NONE;
}

uint8_t qz_lid_for(uint8_t op) {
    return known(op) ? qz_flash_u8(&qz_rules[op].lid) : QZ_ANY;
}

bool qz_rule_has(uint8_t op, uint8_t flag) {
    return known(op) && (qz_flash_u8(&qz_rules[op].flags) & flag) != 0;
}

void qz_effect_of(uint8_t op, uint8_t surface, qz_effect_t *out) {
    for (uint8_t n = 0; n < QZ_EFFECTS; n++) {
        qz_flash_copy(out, &qz_effects[n], sizeof *out);
        if (out->op == op && (out->from == QZ_ANY || out->from == surface)) {
            return;
        }
    }
    memset(out, QZ_ANY, sizeof *out);
    out->op = op;
    out->hand = QZ_HAND_EFFECT_KEEP;
    out->flags = 0;
}
