import { defineEntity, p } from '@mikro-orm/core';
import { at } from '#database/columns.ts';

/** How often something happened within a window. Migrations create the table as unlogged, so a crash empties it. */
export const RateCountSchema = defineEntity({
  name: 'RateCount',
  tableName: 'rate_counts',
  properties: {
    key: p.text().primary(),
    count: p.integer(),
    /** When the window ends. */
    endsAt: at(),
  },
});
