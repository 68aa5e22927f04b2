import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import type { DemandedIsolation, Isolation, LimitKind } from './model.ts';
import type { Egress } from './pools/egress.ts';
import { defaultShares, type PoolRules } from './pools/model.ts';

export const WorkerSchema = defineEntity({
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
    /** Whether it contains template code; null: a worker of a release that did not record it. */
    isolation: p.string().$type<Isolation>().nullable(),
    /** How it enforces the limits of attempts. */
    limits: p.string().$type<LimitKind>().default('process'),
    /** Why it does not contain template code; null if it does. */
    isolationReason: p.text().nullable(),
    /** Whether it takes checks of templates; workers of earlier releases do not. */
    takesChecks: p.boolean().default(false),
    /** Whether it begins runs itself, and knows workflows that let it; workers of earlier releases do not. */
    beginsRuns: p.boolean().default(false),
    draining: p.boolean().default(false),
    /** When an operator requested the drain. The worker takes no new work after its next heartbeat. */
    drainRequestedAt: at().nullable(),
    startedAt: at(),
    heartbeatAt: at(),
    /** When it was reported as lost; null while it sends heartbeats. */
    lostAt: at().nullable(),
  },
});
export class Worker extends WorkerSchema.class {
  /** Repeating the request keeps the time of the first. */
  requestDrain(): void {
    this.drainRequestedAt ??= new Date();
  }
}
WorkerSchema.setClass(Worker);

/** A pool that operators have created. A pool without a row is open to all. */
export const WorkerPoolSchema = defineEntity({
  name: 'WorkerPool',
  tableName: 'worker_pools',
  properties: {
    name: p.string().primary(),
    /** The teams that may use it; null: all. */
    teamIds: p.json<readonly string[]>().nullable(),
    /** The environments that may use it; null: all environments of its teams. */
    environmentIds: p.json<readonly string[]>().nullable(),
    /** The isolation that a worker needs to execute runs of this pool; null: any. */
    isolation: p.string().$type<NonNullable<DemandedIsolation>>().nullable(),
    /** What template code may reach over the network; null: the Internet. */
    egress: p.json<Egress>().nullable(),
    /** The percentage of the slots that one team may occupy while several teams may use the pool. */
    maxTeamPercent: p.integer().default(defaultShares.maxTeamPercent),
    maxPersonPercent: p.integer().default(defaultShares.maxPersonPercent),
    revision: revision(),
    createdAt: createdAt(),
  },
});
export class WorkerPool extends WorkerPoolSchema.class {
  changeRules(rules: Partial<PoolRules>): void {
    Object.assign(this, rules);
    this.revision += 1;
  }
}
WorkerPoolSchema.setClass(WorkerPool);
