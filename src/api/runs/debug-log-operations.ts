import { Readable } from 'node:stream';
import { z } from 'zod';
import { RawAnswer } from '#api/pipeline/answers/raw-answer.ts';
import { read } from '#api/pipeline/operation.ts';
import { AnswerId, pageOf, Time } from '#api/pipeline/schemas.ts';
import { listDebugLogs, readDebugLogs } from '#domain/runs/debug-logs/debug-logs.ts';
import { logLevels } from '#domain/runs/options/model.ts';
import { findRun } from '#domain/runs/store.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { createAccess, RunParams } from './operations.ts';

const DebugLogView = z
  .object({
    attempt_id: AnswerId,
    phase: z.enum(['planning', 'applying']),
    level: z.enum(logLevels),
    bytes: z.int(),
    created_at: Time,
  })
  .meta({ id: 'DebugLog' });

export const getDebugLogs = read({
  id: 'runs.get_debug_logs',
  route: 'GET /api/v1/runs/:id/debug-logs',
  summary: 'Read what the tool logged about itself, of a run with the option `log_level`',
  description:
    'It may hold secrets that the service does not know and so cannot redact: reading it takes the authority to create runs. It is kept for 30 days.',
  params: RunParams,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('debug_logs', DebugLogView) },
  produces: { 'text/plain': 'The texts of all attempts, oldest first.' },
  access: { ...createAccess, review: { inherits: 'runs.requeue' } },
  target: ({ em, params }) => findRun(em, params.id),
  targetName: 'run',
  handle: async ({ em, params, query, request, services }) => {
    if (request.mediaType === 'text/plain') {
      return RawAnswer.of('text/plain; charset=utf-8', Readable.from(readDebugLogs(em, services.keyRing, params.id)));
    }
    const page = await listDebugLogs(em, params.id, query);
    return {
      debug_logs: page.items.map(({ id, createdAt, ...log }) => ({ attempt_id: id, ...log, created_at: createdAt })),
      next_cursor: page.nextCursor,
    };
  },
});
