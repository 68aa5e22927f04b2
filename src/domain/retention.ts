import { mergeParts, type RecordOf } from './areas.ts';

/** The tables that retention removes month by month, by the names of their settings. */
export const monthlyRetentions: RecordOf<'retention'> = mergeParts('retention');
