import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import type { SealContext } from '#domain/shared/secrets.ts';

export const workContext = (scheduleId: string): SealContext => ['schedule-work', scheduleId];

export const scheduleSeals = [
  sealedColumn({ table: 'schedules', column: 'sealedWork', key: ['id'], context: ({ id }) => workContext(id) }),
];
