import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#domain/shared/columns.ts';

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
    /** Set by an operator: the worker takes no new work once it sees this. */
    drainRequestedAt: at().nullable(),
    startedAt: at(),
    heartbeatAt: at(),
  },
});
export class Worker extends WorkerSchema.class {}
WorkerSchema.setClass(Worker);

/** A pool as operators have opened it. A pool without a row is open to everybody. */
const WorkerPoolSchema = defineEntity({
  name: 'WorkerPool',
  tableName: 'worker_pools',
  properties: {
    name: p.string().primary(),
    /** The teams that may use it; null: all. */
    teamIds: p.json<string[]>().nullable(),
    /** The environments that may use it; null: all those of its teams. */
    environmentIds: p.json<string[]>().nullable(),
    revision: revision(),
    createdAt: createdAt(),
  },
});
export class WorkerPool extends WorkerPoolSchema.class {}
WorkerPoolSchema.setClass(WorkerPool);
