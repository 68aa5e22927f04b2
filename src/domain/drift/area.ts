import { DriftEvidenceSchema, DriftFindingSchema, DriftMonitorSchema, DriftScanSchema } from './entity.ts';
import { driftEvents } from './events.ts';
import { driftKinds } from './ownership.ts';

export const entities = [DriftMonitorSchema, DriftScanSchema, DriftFindingSchema, DriftEvidenceSchema] as const;
export const ownership = driftKinds;
export const events = driftEvents;
