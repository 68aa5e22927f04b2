import { RunReviewSchema } from './approval/entity.ts';
import { RunCommentSchema } from './comments/entity.ts';
import { RunDebugLogSchema } from './debug-logs/entity.ts';
import { RunAttemptSchema, RunSchema } from './entity.ts';
import { runEvents } from './events/events.ts';
import { RunLogChunkSchema } from './log/entity.ts';
import { runKinds } from './ownership.ts';
import { RunPlanSchema } from './plans/entity.ts';

export const entities = [
  RunSchema,
  RunAttemptSchema,
  RunPlanSchema,
  RunDebugLogSchema,
  RunReviewSchema,
  RunCommentSchema,
  RunLogChunkSchema,
] as const;
export const ownership = runKinds;
export const events = runEvents;
