/* The mechanism, seen from the board's pins: outputs and time in, inputs out. Two tile sets, a drum, four
 * building heads, a lift, a lid, a tile feeder. For tests: of hosts, of the chip in a simulator, of the library.
 */
#ifndef QZ_PLANT_H
#define QZ_PLANT_H

#include <stdbool.h>
#include <stdint.h>

#include "../core/board.h"

#define QZ_PLANT_OUTPUTS 8

/* Where the tiles of a new machine are. */
enum {
    QZ_FRESH_LOADED, /* one set loose in the drum, the other in the tray under the lid */
    QZ_FRESH_EMPTY,  /* both sets still in their boxes */
};

typedef struct {
    /* Settings: microseconds of the whole way or of one piece. */
    uint32_t lid_us;
    uint32_t lift_us;
    uint32_t stack_us; /* one head, one stack */
    uint32_t feed_us;  /* from the feed pulse to the count */
    uint8_t walls[QZ_PLACES];
    uint8_t dealt; /* tiles of a set that no head takes: fed from the drum once its walls go up */

    /* Tiles. */
    uint16_t drum;
    uint16_t tray;
    uint16_t boxes; /* sets outside, put in when the lid opens over an empty table */
    uint8_t to_deal; /* of those, left */
    uint16_t table; /* in play, or pushed into the open lid */
    uint16_t lost;  /* taken out by a fault */
    uint16_t added; /* put in by a fault */
    uint8_t half[QZ_PLACES];   /* a single tile waits in a head */
    uint8_t stacks[QZ_PLACES]; /* beneath */
    uint16_t plates[QZ_PLACES]; /* tiles on the lift's plates */

    /* Parts. */
    uint32_t lid_at;  /* 0: closed */
    uint32_t lift_at; /* 0: at the bottom */
    uint32_t head_at[QZ_PLACES];
    uint32_t pulse_left[QZ_PLACES];
    uint32_t feed_left; /* until the fed tile passes its sensor; 0: none is on its way */
    uint8_t feed_place;
    uint32_t still_us; /* since BUILD went off */
    bool service;

    /* Faults. */
    uint8_t jammed; /* bit per place */
    bool lift_stuck;
    bool lid_stuck;
    uint16_t forced_high; /* inputs */
    uint16_t forced_low;

    /* What was done. */
    uint8_t outputs;
    uint32_t pulses[QZ_PLANT_OUTPUTS]; /* times that each output went high */
    uint64_t now_us;
} qz_plant_t;

/* `speed` in percent: 100 is a machine of a slow kind (30 s for a set). */
void qz_plant_init(qz_plant_t *plant, const uint8_t *walls, uint32_t speed, uint8_t fresh, uint64_t now_us);

/* The outputs were `outputs` from the last call until `now_us`. */
void qz_plant_run(qz_plant_t *plant, uint64_t now_us, uint8_t outputs);

uint16_t qz_plant_inputs(const qz_plant_t *plant);

/* All tiles there are; stays what it was, whatever happens. */
uint16_t qz_plant_tiles(const qz_plant_t *plant);

/* A line of text; false: not understood.
 *
 *     jam P            head and feeder of place P (0..3) take no tile
 *     missing N        N tiles are taken out of the drum
 *     empty N          set to three walls: none at place N, and its tiles lie in neither set
 *     direct N         set to deal N tiles of each set; the walls get the others (52: 10, 10, 11, 11 stacks)
 *     surplus N        N tiles more are in the drum
 *     high NAME        an input is stuck: LID_OPEN LID_CLOSED LIFT_TOP LIFT_BOTTOM COUNT0..3 DRUM SERVICE
 *     low NAME
 *     lift             the lift stops halfway
 *     lid              the lid stops halfway
 *     key 0|1          the service key
 *     repair           all of this is put right
 */
bool qz_plant_fault(qz_plant_t *plant, const char *line);

#endif
