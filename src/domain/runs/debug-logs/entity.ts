import { defineEntity, p } from '@mikro-orm/core';
import { createdAt } from '#database/columns.ts';
import type { AttemptPhase } from '#domain/shared/vocabulary/runs.ts';
import { Run } from '../entity.ts';
import type { LogLevel } from '../options/model.ts';

/** The tool's debug log of one attempt. It is deleted with the run, or after a month. */
export const RunDebugLogSchema = defineEntity({
  name: 'RunDebugLog',
  tableName: 'run_debug_logs',
  indexes: [
    { name: 'run_debug_logs_run_id_index', properties: ['runId'] },
    { name: 'run_debug_logs_created_at_index', properties: ['createdAt'] },
  ],
  properties: {
    attemptId: p.uuid().primary(),
    runId: () => p.manyToOne(Run).mapToPk().fieldName('run_id').deleteRule('restrict'),
    phase: p.string().$type<AttemptPhase>(),
    level: p.string().$type<LogLevel>(),
    /** The size of the text. */
    bytes: p.integer(),
    /** Sealed: the text, with the known secrets redacted. */
    content: p.blob().hidden(),
    createdAt: createdAt(),
  },
});
export class RunDebugLog extends RunDebugLogSchema.class {}
RunDebugLogSchema.setClass(RunDebugLog);
