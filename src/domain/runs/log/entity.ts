import { defineEntity, p } from '@mikro-orm/core';
import { at } from '#database/columns.ts';
import type { LogPhase, LogStream } from '#domain/shared/vocabulary/runs.ts';

/** A piece of the log of a run. Kept in months by time; migrations make the table, and nothing changes a row. */
export const RunLogChunkSchema = defineEntity({
  name: 'RunLogChunk',
  tableName: 'run_log_chunks',
  properties: {
    runId: p.uuid().primary(),
    /** The order of the chunks of a run, over all its attempts; from 1. */
    sequence: p.integer().primary(),
    time: at().primary(),
    attemptId: p.uuid(),
    phase: p.string().$type<LogPhase>(),
    stream: p.string().$type<LogStream>(),
    /** The number of its first line in the log; from 0. */
    firstLine: p.integer(),
    lines: p.integer(),
    content: p.blob().$type<Buffer>(),
    checksum: p.string(),
  },
});
