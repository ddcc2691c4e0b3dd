#include "plant.h"

#include <stdio.h>
#include <string.h>

#define STEP_US 500u
#define PULSE_US 12000u
#define TIP_US 1000000u /* the tray tips into an empty drum that has stood for so long */

static const char *const input_names[QZ_INPUTS] = {
    "LID_OPEN", "LID_CLOSED", "LIFT_TOP", "LIFT_BOTTOM", "COUNT0", "COUNT1", "COUNT2", "COUNT3", "DRUM", "SERVICE",
};

static uint16_t set_of(const qz_plant_t *plant) {
    uint16_t tiles = plant->dealt;
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        tiles = (uint16_t)(tiles + 2 * plant->walls[place]);
    }
    return tiles;
}

static uint32_t at_speed(uint32_t us, uint32_t speed, uint32_t least) {
    const uint32_t scaled = (uint32_t)((uint64_t)us * 100u / speed);
    return scaled < least ? least : scaled;
}

void qz_plant_init(qz_plant_t *plant, const uint8_t *walls, uint32_t speed, uint8_t fresh, uint64_t now_us) {
    memset(plant, 0, sizeof *plant);
    memcpy(plant->walls, walls, QZ_PLACES);
    plant->lid_us = at_speed(1500000u, speed, 20000u);
    plant->lift_us = at_speed(6000000u, speed, 40000u);
    plant->stack_us = at_speed(1600000u, speed, 4 * PULSE_US);
    plant->feed_us = at_speed(80000u, speed, 20000u);
    plant->now_us = now_us;
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        plant->head_at[place] = plant->stack_us / 8 * place; /* each a little behind the one before */
    }
    if (fresh == QZ_FRESH_EMPTY) {
        plant->boxes = 2;
    } else {
        plant->drum = plant->tray = set_of(plant);
    }
}

/* -- heads, tray --------------------------------------------------------------------------------------- */

static void stack_one(qz_plant_t *plant, uint8_t place) {
    if (plant->drum == 0) {
        return;
    }
    if (plant->half[place] == 0 && plant->drum == 1) {
        plant->drum = 0;
        plant->half[place] = 1;
        return;
    }
    plant->drum = (uint16_t)(plant->drum - (2 - plant->half[place]));
    plant->half[place] = 0;
    plant->stacks[place]++;
    plant->pulse_left[place] = PULSE_US;
}

static void build(qz_plant_t *plant) {
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        if (plant->stacks[place] >= plant->walls[place] || (plant->jammed >> place & 1)) {
            continue;
        }
        plant->head_at[place] += STEP_US;
        if (plant->head_at[place] >= plant->stack_us) {
            plant->head_at[place] = 0;
            stack_one(plant, place);
        }
    }
}

/* What stands beneath and is not finished falls back into the drum. */
static void tip_stacks(qz_plant_t *plant) {
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        plant->drum = (uint16_t)(plant->drum + 2 * plant->stacks[place] + plant->half[place]);
        plant->stacks[place] = plant->half[place] = 0;
    }
}

static bool unfinished(const qz_plant_t *plant) {
    bool some = false;
    bool all = true;
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        some = some || plant->stacks[place] || plant->half[place];
        all = all && plant->stacks[place] == plant->walls[place];
    }
    return some && !all;
}

static void tip_tray(qz_plant_t *plant, uint8_t outputs) {
    plant->still_us = outputs & QZ_OUT_BUILD ? 0 : plant->still_us + STEP_US;
    if (plant->tray > 0 && plant->drum == 0 && plant->lid_at == 0 && plant->still_us >= TIP_US &&
        !unfinished(plant)) {
        plant->drum = plant->tray;
        plant->tray = 0;
    }
    if (plant->still_us > TIP_US) {
        plant->still_us = TIP_US;
    }
}

/* -- lift, lid ----------------------------------------------------------------------------------------- */

static uint32_t moved(uint32_t at, uint32_t whole, bool up, bool stuck) {
    const uint32_t half = whole / 2;
    uint32_t to = up ? at + STEP_US : at > STEP_US ? at - STEP_US : 0;
    if (stuck && ((at <= half && to > half) || (at >= half && to < half))) {
        to = half;
    }
    return to > whole ? whole : to;
}

static void lift(qz_plant_t *plant, bool up) {
    const uint32_t before = plant->lift_at;
    plant->lift_at = moved(before, plant->lift_us, up, plant->lift_stuck);
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        if (before == 0 && plant->lift_at > 0) {
            plant->to_deal = plant->dealt;
            plant->plates[place] = (uint16_t)(2 * plant->stacks[place]);
            plant->stacks[place] = 0;
        } else if (before > 0 && plant->lift_at == 0) {
            plant->stacks[place] = (uint8_t)(plant->stacks[place] + plant->plates[place] / 2);
            plant->plates[place] %= 2;
        }
    }
}

/* People push in all that lies on the table, or bring a set from its box. */
static void collect(qz_plant_t *plant) {
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        plant->table = (uint16_t)(plant->table + plant->plates[place]);
        plant->plates[place] = 0;
    }
    if (plant->table == 0 && plant->boxes > 0) {
        plant->boxes--;
        plant->table = set_of(plant);
    }
}

static void lid(qz_plant_t *plant, bool up) {
    const uint32_t before = plant->lid_at;
    plant->lid_at = moved(before, plant->lid_us, up, plant->lid_stuck);
    if (before < plant->lid_us && plant->lid_at == plant->lid_us) {
        collect(plant);
    } else if (before > 0 && plant->lid_at == 0) {
        if (plant->drum == 0) {
            plant->drum = plant->table;
        } else {
            plant->tray = (uint16_t)(plant->tray + plant->table);
        }
        plant->table = 0;
    }
}

/* -- feeder -------------------------------------------------------------------------------------------- */

static void feed(qz_plant_t *plant, uint8_t place) {
    if (plant->jammed >> place & 1) {
        return;
    }
    bool fed = plant->to_deal > 0 && plant->drum > 0;
    if (fed) {
        plant->to_deal--;
        plant->drum--;
    }
    for (uint8_t n = 0; n < QZ_PLACES && !fed; n++) {
        if (plant->plates[n] > 0) {
            plant->plates[n]--;
            fed = true;
        }
    }
    if (fed) {
        plant->table++;
        plant->feed_place = place;
        plant->feed_left = plant->feed_us;
    }
}

static void pass_tiles(qz_plant_t *plant) {
    if (plant->feed_left > 0) {
        plant->feed_left = plant->feed_left > STEP_US ? plant->feed_left - STEP_US : 0;
        if (plant->feed_left == 0) {
            plant->pulse_left[plant->feed_place] = PULSE_US;
        }
    }
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        plant->pulse_left[place] = plant->pulse_left[place] > STEP_US ? plant->pulse_left[place] - STEP_US : 0;
    }
}

/* -- time ---------------------------------------------------------------------------------------------- */

static void edges(qz_plant_t *plant, uint8_t outputs) {
    const uint8_t rose = outputs & (uint8_t)~plant->outputs;
    for (uint8_t n = 0; n < QZ_PLANT_OUTPUTS; n++) {
        plant->pulses[n] += rose >> n & 1;
    }
    if (rose & QZ_OUT_FEED) {
        feed(plant, outputs >> 6);
    }
    if ((rose & QZ_OUT_TOOL) && outputs >> 6 == 2) {
        tip_stacks(plant);
    }
    plant->outputs = outputs;
}

void qz_plant_run(qz_plant_t *plant, uint64_t now_us, uint8_t outputs) {
    edges(plant, outputs);
    for (; plant->now_us + STEP_US <= now_us; plant->now_us += STEP_US) {
        pass_tiles(plant);
        tip_tray(plant, outputs);
        if (outputs & QZ_OUT_BUILD) {
            build(plant);
        }
        if (outputs & QZ_OUT_LIFT) {
            lift(plant, (outputs & QZ_OUT_DIR) != 0);
        }
        if (outputs & QZ_OUT_LID) {
            lid(plant, (outputs & QZ_OUT_DIR) != 0);
        }
    }
}

uint16_t qz_plant_inputs(const qz_plant_t *plant) {
    uint16_t inputs = 0;
    inputs |= plant->lid_at == plant->lid_us ? QZ_IN_LID_OPEN : 0;
    inputs |= plant->lid_at == 0 ? QZ_IN_LID_CLOSED : 0;
    inputs |= plant->lift_at == plant->lift_us ? QZ_IN_LIFT_TOP : 0;
    inputs |= plant->lift_at == 0 ? QZ_IN_LIFT_BOTTOM : 0;
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        if (plant->pulse_left[place] > 0) {
            inputs |= (uint16_t)(QZ_IN_COUNT0 << place);
        }
    }
    inputs |= plant->drum > 0 ? QZ_IN_DRUM : 0;
    inputs |= plant->service ? QZ_IN_SERVICE : 0;
    return (uint16_t)((inputs | plant->forced_high) & ~plant->forced_low);
}

uint16_t qz_plant_tiles(const qz_plant_t *plant) {
    uint16_t tiles = (uint16_t)(plant->drum + plant->tray + plant->table + plant->lost - plant->added +
                                plant->boxes * set_of(plant));
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        tiles = (uint16_t)(tiles + 2 * plant->stacks[place] + plant->half[place] + plant->plates[place]);
    }
    return tiles;
}

/* -- faults -------------------------------------------------------------------------------------------- */

static bool stick(uint16_t *forced, const char *name) {
    for (uint8_t n = 0; n < QZ_INPUTS; n++) {
        if (strcmp(name, input_names[n]) == 0) {
            *forced |= (uint16_t)(1u << n);
            return true;
        }
    }
    return false;
}

static void repair(qz_plant_t *plant) {
    plant->jammed = 0;
    plant->lift_stuck = plant->lid_stuck = false;
    plant->forced_high = plant->forced_low = 0;
    plant->drum = (uint16_t)(plant->drum + plant->lost);
    plant->lost = 0;
    if (plant->drum >= plant->added) {
        plant->drum = (uint16_t)(plant->drum - plant->added);
        plant->added = 0;
    }
}

/* Walls as even as they get without the tiles that are dealt; lower places have the fewer stacks. */
static bool deal_directly(qz_plant_t *plant, unsigned tiles) {
    const uint16_t set = set_of(plant);
    if (tiles > 255 || tiles > set || (set - tiles) % 2 != 0) {
        return false;
    }
    const uint16_t stacks = (uint16_t)((set - tiles) / 2);
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        plant->walls[place] = (uint8_t)((stacks + place) / QZ_PLACES);
    }
    plant->dealt = (uint8_t)tiles;
    return true;
}

bool qz_plant_fault(qz_plant_t *plant, const char *line) {
    char word[16];
    char name[16] = "";
    if (sscanf(line, "%15s %15s", word, name) < 1) {
        return false;
    }
    unsigned number = 0;
    const bool numbered = sscanf(name, "%u", &number) == 1;
    if (strcmp(word, "repair") == 0) {
        repair(plant);
    } else if (strcmp(word, "lift") == 0) {
        plant->lift_stuck = true;
    } else if (strcmp(word, "lid") == 0) {
        plant->lid_stuck = true;
    } else if (strcmp(word, "high") == 0) {
        return stick(&plant->forced_high, name);
    } else if (strcmp(word, "low") == 0) {
        return stick(&plant->forced_low, name);
    } else if (!numbered) {
        return false;
    } else if (strcmp(word, "key") == 0) {
        plant->service = number != 0;
    } else if (strcmp(word, "jam") == 0 && number < QZ_PLACES) {
        plant->jammed |= (uint8_t)(1u << number);
    } else if (strcmp(word, "missing") == 0 && number <= plant->drum) {
        plant->drum = (uint16_t)(plant->drum - number);
        plant->lost = (uint16_t)(plant->lost + number);
    } else if (strcmp(word, "empty") == 0 && number < QZ_PLACES && plant->drum >= 2u * plant->walls[number] &&
               plant->tray >= 2u * plant->walls[number]) {
        const uint16_t fewer = (uint16_t)(2u * plant->walls[number]);
        plant->drum = (uint16_t)(plant->drum - fewer);
        plant->tray = (uint16_t)(plant->tray - fewer);
        plant->lost = (uint16_t)(plant->lost + 2u * fewer);
        plant->walls[number] = 0;
    } else if (strcmp(word, "direct") == 0) {
        return deal_directly(plant, number);
    } else if (strcmp(word, "surplus") == 0 && number <= 100) {
        plant->drum = (uint16_t)(plant->drum + number);
        plant->added = (uint16_t)(plant->added + number);
    } else {
        return false;
    }
    return true;
}
