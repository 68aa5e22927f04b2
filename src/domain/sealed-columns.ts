import { listParts } from './areas.ts';
import type { SealedColumn } from './shared/sealed/sealed-column.ts';

/** Every column that the key ring has sealed. */
export const sealedColumns: readonly SealedColumn[] = listParts('sealed');
