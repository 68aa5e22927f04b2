import { CandidateCheckSchema, UndoAttemptSchema } from './entity.ts';
import { undoEvents } from './events.ts';
import { undoKinds } from './ownership.ts';

export const entities = [UndoAttemptSchema, CandidateCheckSchema] as const;
export const ownership = undoKinds;
export const events = undoEvents;
