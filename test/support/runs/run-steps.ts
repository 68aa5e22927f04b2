import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { claimAttempt } from '#domain/runs/attempts/claim.ts';
import { abandonAttempt, completeAttempt } from '#domain/runs/attempts/complete.ts';
import { storeAttemptState } from '#domain/runs/attempts/state.ts';
import type { AttemptResult, AttemptState } from '#domain/runs/attempts/writes.ts';
import type { NextStep } from '#domain/runs/model.ts';
import { summarizePlan } from '#domain/runs/plans/model.ts';
import { noSections } from '#domain/runs/plans/sections.ts';
import { type StepRequest, takeNextStep } from '#domain/runs/steps/advance.ts';
import type { VersionedTool } from '#domain/tools/model.ts';
import type { Isolation } from '#domain/workers/model.ts';
import { registerWorker } from '#domain/workers/store.ts';
import type { ApiUser, TestApi } from '../api/in-process-api.ts';

/** Moves runs step by step, as the workflow and the workers do. */
export class RunSteps {
  readonly #api: TestApi;
  readonly #admin: ApiUser;
  #templates = 0;

  constructor(api: TestApi, admin: ApiUser) {
    this.#api = api;
    this.#admin = admin;
  }

  /** Registers a worker that stays alive for the whole test file, however slow the machine is; returns its id. */
  async worker(isolation: Isolation, pool = 'default', tools: VersionedTool[] = []): Promise<string> {
    const id = randomUUID();
    // Runs that a test leaves open take no share of the slots from those of the next one.
    const facts = { host: 'here', processId: 1, version: '0', pools: [pool], tools, concurrency: 1000 };
    const isolationReason = isolation === 'none' ? 'the kernel refuses' : null;
    await registerWorker(this.#em(), { id, ...facts, isolation, limits: 'cgroup', isolationReason, beginsRuns: true });
    // No process sends its heartbeats.
    await this.#api.rows(`update workers set heartbeat_at = now() + interval '1 hour' where id = ?`, [id]);
    return id;
  }

  async publish(rest: object = {}): Promise<string> {
    const slug = `stepped-${++this.#templates}`;
    const { body } = await this.#admin.post('/registry/templates', { name: slug, slug });
    const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] }, ...rest };
    const version = await this.#admin.post(`/registry/templates/${body.id}/versions`, { version: '1.0.0', spec });
    expect(version.status, version.text).toBe(201);
    return body.id;
  }

  /** Admits a run of a new template; returns its id. */
  async admit(request: object = {}, spec: object = {}): Promise<string> {
    const templateId = await this.publish(spec);
    const { status, body, text } = await this.#admin.post('/runs', { template_id: templateId, ...request });
    expect(status, text).toBe(202);
    return body.id;
  }

  next(request: Partial<StepRequest> & { runId: string }): Promise<NextStep> {
    return this.#api.services.transactions.run((tx) =>
      takeNextStep(tx, { executed: null, canceled: false, ...request }),
    );
  }

  /** Lets a worker with these tools claim an attempt. Commands need none. */
  claim(
    attemptId: string,
    workerId: string,
    isolation: Isolation,
    tools: readonly VersionedTool[] = [],
    issuer: string | null = null,
  ) {
    return claimAttempt(this.#em(), this.#api.services.keyRing, attemptId, {
      workerId,
      isolation,
      tools,
      issuer,
    });
  }

  abandon(attemptId: string, workerId: string, outcome: 'handed_back' | 'failed' | 'lost'): Promise<void> {
    return this.#api.services.transactions.run((tx) => abandonAttempt(tx, attemptId, workerId, outcome));
  }

  keep(state: Partial<AttemptState> & { attemptId: string }) {
    const whole = { write: 1, content: Buffer.from('{"it":"is"}'), ...state };
    return this.#api.services.transactions.run((tx) => storeAttemptState(tx, this.#api.services.keyRing, whole));
  }

  complete(attemptId: string, result: Partial<AttemptResult> & Pick<AttemptResult, 'outcome'>) {
    const whole = { reason: null, tool: null, ...result };
    return this.#api.services.transactions.run((tx) =>
      completeAttempt(tx, this.#api.services.keyRing, attemptId, whole),
    );
  }

  /** Admits a run and lets a worker claim its plan attempt. */
  async planning(workerId: string, isolation: Isolation, request: object = {}, spec: object = {}) {
    const runId = await this.admit(request, spec);
    const attemptId = executing(await this.next({ runId }));
    expect(await this.claim(attemptId, workerId, isolation)).not.toBeNull();
    return { runId, attemptId };
  }

  /** Admits a run and completes its plan. Its apply attempt is not claimed yet. */
  async planned(workerId: string, isolation: Isolation, request: object = {}, spec: object = {}) {
    const { runId, attemptId: planning } = await this.planning(workerId, isolation, request, spec);
    await this.complete(planning, { outcome: 'planned', plan: aPlan() });
    return { runId, attemptId: executing(await this.next({ runId, executed: planning })) };
  }

  /** Admits a run, completes its plan and lets a worker claim its apply attempt. */
  async applying(workerId: string, isolation: Isolation, request: object = {}) {
    const begun = await this.planned(workerId, isolation, request);
    expect(await this.claim(begun.attemptId, workerId, isolation)).not.toBeNull();
    return begun;
  }

  #em() {
    return this.#api.services.orm.em.fork();
  }
}

export function executing(step: NextStep): string {
  if (step.kind !== 'execute') throw new Error(`expected an execution: ${JSON.stringify(step)}`);
  return step.attemptId;
}

export function aPlan(more: object = {}): NonNullable<AttemptResult['plan']> {
  const change = { address: 'thing', action: 'create' as const, before: null, after: {} };
  return {
    changes: [change],
    sections: noSections,
    summary: summarizePlan([change]),
    executorDigest: 'sha256:0',
    artifact: randomBytes(8),
    ...more,
  };
}
