import { sql } from 'kysely';
import { z } from 'zod';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { EventData, EventTypeName } from '#domain/events.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { EventType } from '#domain/shared/events/event-type.ts';
import type { Run } from './entity.ts';
import { runOperations, terminalStatuses } from './model.ts';

const by = z.string();
const digest = z.string().nullable();
const count = z.number().int();

/** What happens to runs. GET /runs/{id}/events answers these events, and clients match their types: they never change. */
export const runEvents = {
  'run.admitted': {
    subject: 'run',
    summary: 'A run was admitted',
    data: z.strictObject({ by, operation: z.enum(runOperations) }),
  },
  'run.planning': { subject: 'run', summary: 'A run began to plan', data: z.strictObject({}) },
  'run.planned': {
    subject: 'run',
    summary: 'A run has a plan',
    data: z.strictObject({ digest, add: count, change: count, destroy: count }),
  },
  'run.approval_required': {
    subject: 'run',
    summary: 'A run waits for approval',
    data: z.strictObject({ required: count, digest }),
  },
  'run.approval_requested': {
    subject: 'run',
    summary: 'Somebody asked people to review a run',
    data: z.strictObject({ by, reviewers: z.array(z.string()), message: z.string() }),
  },
  'run.reviewed': {
    subject: 'run',
    summary: 'Somebody approved or rejected a run',
    data: z.strictObject({ by, decision: z.enum(['approve', 'reject']), comment: z.string() }),
  },
  'run.applying': { subject: 'run', summary: 'A run began to apply its plan', data: z.strictObject({ digest }) },
  'run.attempt_lost': {
    subject: 'run',
    summary: 'The worker of an attempt was lost',
    data: z.strictObject({ phase: z.enum(['planning', 'applying']) }),
  },
  'run.state_recovered': {
    subject: 'run',
    summary: 'A state that an ended attempt had written became the latest state of the instance',
    data: z.strictObject({ serial: count }),
  },
  'run.state_refused': {
    subject: 'run',
    summary: 'A state that an attempt had written could not be stored and was set aside',
    data: z.strictObject({
      attempt_id: z.string(),
      write: z.number().nullable(),
      digest: z.string(),
      file: z.string().nullable(),
      worker_id: z.string(),
      problem: z.string(),
    }),
  },
  'run.not_contained': {
    subject: 'run',
    summary: 'A run needs a sandbox, and no live worker of its pool has one',
    data: z.strictObject({ pool: z.string(), message: z.string() }),
  },
  'run.cancel_requested': {
    subject: 'run',
    summary: 'Somebody asked to cancel a run',
    data: z.strictObject({ by, reason: z.string().nullable(), force: z.boolean() }),
  },
  'run.finished': {
    subject: 'run',
    summary: 'A run ended',
    data: z.strictObject({ status: z.enum(terminalStatuses), reason: z.string().nullable() }),
  },
  'run.deleted': {
    subject: 'run',
    summary: 'The log and the plan of a run were deleted',
    data: z.strictObject({ by }),
  },
} as const satisfies Record<string, EventType>;

export type RunEventType = Extract<EventTypeName, keyof typeof runEvents>;

/** Publishes an event of a run. The caller holds the run's row, so that its events are numbered in the order of the commits. */
export function publishRunEvent<Type extends RunEventType>(
  tx: Transaction,
  run: Pick<Run, 'id'> & Partial<Pick<Run, 'teamId'>>,
  type: Type,
  data: EventData<Type>,
): void {
  tx.publish({ type, subjectId: run.id, owners: { teamId: run.teamId ?? null }, data });
}

/** Publishes an event unless the run has one of the same type that contains `key`. Answers whether it did. */
export async function publishRunEventOnce<Type extends RunEventType>(
  tx: Transaction,
  run: Pick<Run, 'id'> & Partial<Pick<Run, 'teamId'>>,
  type: Type,
  key: Partial<EventData<Type>>,
  data: EventData<Type>,
): Promise<boolean> {
  const earlier = await db(tx.em)
    .selectFrom('domain_events as e')
    .where('e.subject_kind', '=', 'run')
    .where('e.subject_id', '=', run.id)
    .where('e.type', '=', type)
    .where((eb) => sql<boolean>`${eb.ref('e.data')} @> ${json(key)}::jsonb`)
    .select('e.sequence')
    .limit(1)
    .execute();
  if (earlier.length > 0) return false;
  publishRunEvent(tx, run, type, data);
  return true;
}
