import { defineEntity, p } from '@mikro-orm/core';
import { at, id } from '#domain/shared/columns.ts';

const WorkerSchema = defineEntity({
  name: 'Worker',
  tableName: 'workers',
  properties: {
    id: id(),
    host: p.string(),
    processId: p.integer(),
    version: p.string(),
    pools: p.json<string[]>(),
    tools: p.json<{ name: string; version: string }[]>(),
    concurrency: p.integer(),
    draining: p.boolean().default(false),
    startedAt: at(),
    heartbeatAt: at(),
  },
});
export class Worker extends WorkerSchema.class {}
WorkerSchema.setClass(Worker);
