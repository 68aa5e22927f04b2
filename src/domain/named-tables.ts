import { mergeParts, type RecordOf } from './areas.ts';
import type { NamedColumns } from './shared/naming/named-columns.ts';

/** The tables of things that pages name by their ids. */
export type NamedTable = keyof RecordOf<'named'>;

export const namedTables: Readonly<Record<NamedTable, NamedColumns>> = mergeParts('named');
