/* When the machine may move: the same decision as the host's, over the same tables (rules.c).
 *
 * A convenience for the people at the table, not a safety function: the normally closed hardware loop
 * that removes motor power is. */
#ifndef QZ_INTERLOCK_H
#define QZ_INTERLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"
#include "rules.h"

/* All that permission depends on. */
typedef struct {
    uint8_t surface;  /* QZ_SURFACE_ */
    uint8_t magazine; /* QZ_MAGAZINE_ */
    uint8_t lid;      /* QZ_LID_ */
    bool locked;
    bool has_hand_no;
    bool lease; /* it lives */
    bool estop;
    bool hold;
    bool drum; /* a loose set lies in the drum */
    bool taken;
    bool service; /* the service key is held */
    uint8_t stacks[QZ_PLACES]; /* built in the magazine */
    uint8_t walls[QZ_PLACES];  /* standing on the surface */
    uint8_t plan[QZ_PLACES];   /* of the machine's profile */
    uint16_t faults;  /* QZ_FAULTS() */
    uint32_t hand_no; /* when has_hand_no */
    uint32_t running; /* QZ_OPS() in motion now */
    uint32_t cut;     /* QZ_OPS() stopped halfway; not empty exactly when hold */
} qz_state_t;

/* Whether the machine may do `op` in this state: 0, or the QZ_REASON_ of the first condition that fails.
 * `args`: the operation's QZ_ARGS_..._SIZE bytes, or NULL when none were given. An operation that does
 * not exist is QZ_REASON_UNSUPPORTED. */
uint8_t qz_may_move(const qz_state_t *state, uint8_t op, const uint8_t *args);

/* The lane of an operation (QZ_LANE_NONE: no motion, or no such operation). */
uint8_t qz_lane_of(uint8_t op);

/* How the lid must be for an operation: QZ_LID_, or QZ_ANY. */
uint8_t qz_lid_for(uint8_t op);

/* Whether a rule has this flag, QZ_RULE_. */
bool qz_rule_has(uint8_t op, uint8_t flag);

/* What is different when `op`, begun on this surface, is done. */
void qz_effect_of(uint8_t op, uint8_t surface, qz_effect_t *out);

#endif
