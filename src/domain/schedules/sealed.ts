import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { workContext } from './work.ts';

export const scheduleSeals = [
  sealedColumn({ table: 'schedules', column: 'sealed_work', key: ['id'], context: ({ id }) => workContext(id) }),
];
