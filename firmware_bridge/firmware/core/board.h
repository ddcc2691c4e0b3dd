/* The reference board: the device's half of the protocol and the mechanism's state machine.
 *
 * Sans-IO: bytes, time and inputs are passed in; bytes to send and outputs are read out. A port (AVR, POSIX,
 * the test library) calls, in its main loop:
 *
 *     qz_board_feed    for every received byte
 *     qz_board_tick    every millisecond or so
 *     qz_board_take    for the bytes to send
 *     qz_board_outputs for the pins
 *
 * and keeps `memory` and `config` over a reset whenever they are marked dirty. Time passes in `tick` alone: `feed`
 * is called soon after one. The receive interrupt itself
 * runs a `qz_stop_byte` watch; when that fires it switches the pins off, throws away all received bytes that
 * wait, and calls `qz_board_stop`.
 *
 * This is a convenience for the people at the table, not a safety function: that is the normally closed
 * hardware loop that removes motor power.
 */
#ifndef QZ_BOARD_H
#define QZ_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "decoder.h"
#include "protocol.h"

/* Outputs, active high. DIR and SEL change only while what they steer is off. */
#define QZ_OUT_BUILD 0x01u /* drum and heads */
#define QZ_OUT_LIFT 0x02u
#define QZ_OUT_LID 0x04u
#define QZ_OUT_DIR 0x08u  /* of lift and lid: 1 = up, open */
#define QZ_OUT_FEED 0x10u /* a pulse feeds one tile to the place SEL */
#define QZ_OUT_TOOL 0x20u /* a pulse; SEL 0: dice, 1: turns the indicator, 2: tips unfinished stacks into the drum */
#define QZ_OUT_SEL0 0x40u
#define QZ_OUT_SEL1 0x80u

/* Inputs, active high, as they are on the pins; the board debounces them. */
#define QZ_IN_LID_OPEN 0x001u
#define QZ_IN_LID_CLOSED 0x002u
#define QZ_IN_LIFT_TOP 0x004u
#define QZ_IN_LIFT_BOTTOM 0x008u
#define QZ_IN_COUNT0 0x010u /* a pulse per stack built at the place, and per tile fed to it */
#define QZ_IN_COUNT1 0x020u
#define QZ_IN_COUNT2 0x040u
#define QZ_IN_COUNT3 0x080u
#define QZ_IN_DRUM 0x100u    /* loose tiles lie in the drum */
#define QZ_IN_SERVICE 0x200u /* the service key is held */
#define QZ_INPUTS 10

/* Where tiles and parts are; bytes only. */
typedef struct {
    uint8_t surface;  /* QZ_SURFACE_ */
    uint8_t magazine; /* QZ_MAGAZINE_ */
    uint8_t lid_closed;
    uint8_t drum;  /* a loose set lies in the drum */
    uint8_t taken; /* tiles were taken from the walls */
    uint8_t stacks[QZ_PLACES]; /* built beneath */
    uint8_t walls[QZ_PLACES];  /* stacks on the surface */
} qz_where_t;

/* What survives a reset. Written before a motion starts (the motion waits for it) and when it ends. */
#define QZ_MEMORY_KNOWN 0x52u
typedef struct {
    uint32_t last_id;
    uint32_t boots;      /* the port's: counts its starts */
    uint32_t running[2]; /* command ids in motion, 0: none */
    uint8_t known;       /* QZ_MEMORY_KNOWN, or the rest means nothing */
    uint8_t op[2];       /* per lane (surface, drum): in motion or cut, 0: none */
    uint8_t from_surface;
    qz_where_t where;
} qz_memory_t;

typedef struct {
    uint64_t uid;
    uint32_t boot_id; /* new at every start */
    uint8_t cause;    /* QZ_RESET_* */
    const qz_memory_t *memory; /* of a former run; NULL: none */
    const uint8_t *config;     /* QZ_BOARD_CONFIG_SIZE bytes as on the wire; NULL: the board's own */
} qz_boot_t;

/* What became of one command id. `time` is the beginning while it runs, the duration in ms afterwards. */
typedef struct {
    uint32_t cmd_id;
    uint32_t time;
    uint8_t result; /* 0: free */
    uint8_t code;
    uint8_t length; /* of values */
    uint8_t values[4];
} qz_record_t;
#define QZ_RECORDS 16

/* One numbered event. `record.result` 0: a report, whose code and arguments are the record's code and values;
 * otherwise the end of a command. */
typedef struct {
    uint32_t time; /* ms since boot; the end of a command: the state's revision */
    qz_record_t record;
} qz_ring_event_t;
#ifndef QZ_EVENT_RING
#define QZ_EVENT_RING 8
#endif

#define QZ_FAULTS_MAX 6

/* A lane: one of the two mechanisms that move independently. */
#define QZ_LANE_OF_SURFACE 0
#define QZ_LANE_OF_DRUM 1
#define QZ_LANES 2
#define QZ_MODE_IDLE 0
#define QZ_MODE_RUNS 1
#define QZ_MODE_CUT 2
typedef struct {
    uint32_t cmd_id;
    uint16_t in_phase; /* ms, at most 60000 */
    uint8_t mode;      /* QZ_MODE_* */
    uint8_t op;
    uint8_t phase;
    uint8_t from_surface;
    uint8_t args[7];
} qz_lane_t;

/* What STATUS tells of the state, as there (after the revisions, before the counts), then running and cut
 * operations by lane and the faults: a difference makes a new revision. */
#define QZ_LOOK_SIZE (QZ_AT_STATUS_ACTIVE - QZ_AT_STATUS_SURFACE)
#define QZ_KNOWN_SIZE (QZ_LOOK_SIZE + 2 * QZ_LANES + 2)

#define QZ_TX_RING 128 /* a power of two; holds the longest frame */

typedef struct {
    /* Read by the port. */
    qz_memory_t memory;
    uint8_t config[QZ_BOARD_CONFIG_SIZE];
    bool memory_dirty; /* the port writes `memory` as it is when it ends, then clears this; motions wait for it */
    bool config_dirty;

    /* The rest is the board's own. */
    uint8_t outputs;
    volatile bool stopped; /* a stop was seen and is not yet handled */
    uint64_t uid;
    uint32_t boot_id;
    uint32_t booted_at;
    uint32_t now;
    uint8_t cause;

    qz_decoder_t decoder;
    uint16_t session;
    uint16_t heard_left; /* ms until nobody seems to listen */
    uint16_t lease_left; /* ms in which motions may go on */

    uint8_t tx[QZ_TX_RING];
    uint8_t tx_head;
    uint8_t tx_used;
    uint8_t code_at; /* of the frame being written: where its COBS block begins */
    uint8_t code;
    uint16_t crc;
    bool status_due;

    qz_record_t records[QZ_RECORDS];
    uint8_t record_next;
    uint32_t last_seen;
    uint32_t forgotten;
    uint32_t interrupted[2];
    uint32_t executed; /* commands that took effect since the start */

    qz_ring_event_t events[QZ_EVENT_RING];
    uint32_t next_no;
    uint8_t unacked;  /* the newest so many wait for EVENT_ACK */
    uint8_t unpushed; /* the newest so many were not yet sent at all */
    uint8_t repeat_left; /* ms until unacknowledged events are sent again */

    bool locked;
    bool has_hand;
    bool estop;
    uint32_t hand_no;
    qz_where_t where;
    uint8_t dealt[QZ_PLACES];
    uint8_t dice[2];
    bool indicator;
    qz_fault_report_t faults[QZ_FAULTS_MAX];
    uint8_t faults_used;

    uint32_t state_rev;
    uint32_t detail_rev;
    uint8_t known[QZ_KNOWN_SIZE];

    qz_lane_t lanes[QZ_LANES];
    uint16_t inputs; /* debounced */
    uint16_t rose;   /* went high in this tick */
    uint8_t age[QZ_INPUTS];
    uint16_t quiet[QZ_PLACES]; /* ms that BUILD ran since the last stack at a place */
    uint16_t high[QZ_PLACES];  /* ms that a count input was high while something moved tiles */
    uint8_t both;              /* ms that two opposite switches were both on */
    uint8_t turn;              /* place that is fed next, or being fed */
    uint16_t noise;            /* of the dice */
} qz_board_t;

/* Power-up. `inputs` as they are now. */
void qz_board_init(qz_board_t *board, const qz_boot_t *boot, uint32_t now_ms, uint16_t inputs);

/* One received byte. */
void qz_board_feed(qz_board_t *board, uint8_t byte, uint32_t now_ms);

/* The stop string was seen. Allowed in an interrupt: outputs are off from now on, the rest follows in `feed`
 * or `tick`. The caller drops received bytes that were not yet fed. */
void qz_board_stop(qz_board_t *board);

/* Time passes. */
void qz_board_tick(qz_board_t *board, uint32_t now_ms, uint16_t inputs);

/* Up to `max` bytes to send; how many. */
uint8_t qz_board_take(qz_board_t *board, uint8_t *buffer, uint8_t max);

/* What the pins must show now. */
uint8_t qz_board_outputs(const qz_board_t *board);

#endif
