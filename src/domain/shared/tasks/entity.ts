import { defineEntity, p } from '@mikro-orm/core';
import { at } from '#database/columns.ts';

/** Work that one worker at a time does for all, and when it is due. */
export const PeriodicWorkSchema = defineEntity({
  name: 'PeriodicWork',
  tableName: 'periodic_work',
  properties: { name: p.string().primary(), dueAt: at() },
});
export class PeriodicWork extends PeriodicWorkSchema.class {}
PeriodicWorkSchema.setClass(PeriodicWork);
