import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ResourceChange } from '#domain/runs/plans/model.ts';
import { summarizePlan } from '#domain/runs/plans/model.ts';
import { countSections, noSections, outputPrefix } from '#domain/runs/plans/sections.ts';
import { newId } from '#domain/shared/ids.ts';
import { continueUndoAfterRun } from '#domain/undo/attempts/finished-run.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';

/** A tenant with a template whose runs the test moves step by step, as workers would. */
export class UndoStage {
  readonly api: TestApi;
  readonly tenant: Tenant;
  readonly template: string;
  readonly #steps: RunSteps;

  constructor(api: TestApi, tenant: Tenant, rest: { template: string; steps: RunSteps }) {
    this.api = api;
    this.tenant = tenant;
    this.template = rest.template;
    this.#steps = rest.steps;
  }

  /** Another tenant, with a template of its own that belongs to the installation. `maintainer` publishes it. */
  async elsewhere(maintainer: ApiUser): Promise<UndoStage> {
    const tenant = await makeTenant(this.api, { kind: 'development' });
    return new UndoStage(this.api, tenant, { template: await publish(maintainer), steps: this.#steps });
  }

  /** An instance of its own, with a name that no other test uses. */
  place(environment = this.tenant.environment) {
    return { template_id: this.template, environment_id: environment, instance: `i-${randomUUID().slice(0, 8)}` };
  }

  /** Admits a run and has it applied. Its plan touches the addresses. Returns the run's id. */
  async deploy(request: object, { by = this.tenant.owner, touches = ['thing.a'], outcome = 'applied' as const } = {}) {
    const { status, body, text } = await by.post('/runs', request);
    expect(status, text).toBe(202);
    await this.apply(body.id, touches, outcome);
    return body.id as string;
  }

  /** Has a run planned and applied, without approval. */
  async apply(runId: string, touches = ['thing.a'], outcome: 'applied' | 'failed' = 'applied'): Promise<void> {
    const planned = await this.plan(runId, touches);
    await this.#steps.claim(planned, await this.#steps.worker('none'), 'none');
    await this.#steps.keep({ attemptId: planned, content: Buffer.from(JSON.stringify({ of: runId })) });
    await this.#steps.complete(planned, { outcome, ...(outcome === 'failed' && { reason: 'apply_failed' as const }) });
    expect(await this.#steps.next({ runId, executed: planned })).toEqual({ kind: 'end' });
  }

  /** Has a run planned; returns the attempt at its apply. An address such as `output.x` is that of an output. */
  async plan(runId: string, touches: readonly string[]): Promise<string> {
    return executing(await this.planOnly(runId, touches));
  }

  async planOnly(runId: string, touches: readonly string[], action: ResourceChange['action'] = 'update') {
    // A worker of its own: one that registered earlier counts as silent by now.
    const worker = await this.#steps.worker('none');
    const attempt = executing(await this.#steps.next({ runId }));
    await this.#steps.claim(attempt, worker, 'none');
    const resources = touches.filter((address) => !address.startsWith(outputPrefix));
    const changes = resources.map((address) => ({ ...changeOf(address), action }));
    const outputs = touches
      .filter((address) => address.startsWith(outputPrefix))
      .map((address) => ({ ...changeOf(address), name: address.slice(outputPrefix.length), action, sensitive: false }))
      .map(({ address: _, ...output }) => output);
    const sections = { ...noSections, outputs };
    await this.#steps.complete(attempt, {
      outcome: 'planned',
      plan: aPlan({ changes, sections, summary: summarizePlan(changes, countSections(sections)) }),
    });
    return this.#steps.next({ runId, executed: attempt });
  }

  next(runId: string) {
    return this.#steps.next({ runId });
  }

  /** Begins a check, and returns the attempt. */
  async check(runId: string, by: ApiUser = this.tenant.owner, key: string = randomUUID()) {
    const answer = await by.post(`/runs/${runId}/selective-undo/check`, undefined, { 'idempotency-key': key });
    expect(answer.status, answer.text).toBe(202);
    return answer.body;
  }

  /** Begins a check and ends its scan, which found these resources changed. */
  async checked(runId: string, by: ApiUser = this.tenant.owner, drifted: string[] = []) {
    const { id, baseline_run_id: scan } = await this.check(runId, by);
    if (scan !== null) await this.endScan(scan, { drifted });
    return this.read(id);
  }

  async read(id: string) {
    const answer = await this.tenant.owner.get(`/selective-undo/${id}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }

  /** Ends a scan as a worker would have. */
  async endScan(
    runId: string,
    { drifted = [] as string[], status = 'succeeded', reason = null as string | null, hasPlan = true } = {},
  ) {
    const changes = JSON.stringify(drifted.map(changeOf));
    if (hasPlan)
      await this.api.rows(
        `insert into run_plans (run_id, digest, executor_digest, changes, state_serial, created_at) values (?, 'x', 'x', ?, 0, now())`,
        [runId, changes],
      );
    await this.api.rows(
      `update runs set status = ?, status_reason = ?, phase = 'finished', waiting_on = null, finished_at = now() where id = ?`,
      [status, reason, runId],
    );
    await this.hear(runId);
  }

  /** Delivers the end of a run, twice, as a crash between delivery and its record would. */
  async hear(runId: string): Promise<void> {
    const { orm, transactions, installation } = this.api.services;
    const deps = { orm, transactions, bindingKey: installation.bindingKey };
    const event = { id: newId(), subject: { kind: 'run', id: runId } };
    await continueUndoAfterRun(deps, event);
    await continueUndoAfterRun(deps, event);
  }

  /** Has the candidate planned. */
  async checkCandidate(id: string, touches: readonly string[], by: ApiUser = this.tenant.owner) {
    const answer = await by.post(`/selective-undo/${id}/candidate-checks`);
    expect(answer.status, answer.text).toBe(202);
    const { body } = await by.get(`/selective-undo/${id}/candidate-checks`);
    const runId = body.candidate_checks[0].run_id;
    expect(await this.planOnly(runId, touches)).toEqual({ kind: 'end' });
    await this.hear(runId);
    return this.read(id);
  }

  promote(attempt: Promotable, by: ApiUser = this.tenant.owner, change: object = {}) {
    const { digest, collateral } = attempt.candidate;
    const body = { candidate_digest: digest, accepted_collateral: collateral ?? [], ...change };
    return by.post(`/selective-undo/${attempt.id}/promote`, body);
  }

  /** Checks, plans the candidate and promotes it. Returns the promoted run's id. */
  async undo(
    runId: string,
    touches: readonly string[] = ['thing.a'],
    by: ApiUser = this.tenant.owner,
  ): Promise<string> {
    const { id } = await this.checked(runId, by);
    const answer = await this.promote(await this.checkCandidate(id, touches, by), by);
    expect(answer.status, answer.text).toBe(202);
    return answer.body.id;
  }

  /** The run that the instance is deployed from now, with its inputs as people see them. */
  async deployed(request: { instance: string }) {
    const [{ id } = { id: '' }] = await this.api.rows<{ id: string }>(
      'select deployed_run_id as id from instances where name = ?',
      [request.instance],
    );
    return (await this.tenant.owner.get(`/runs/${id}`)).body;
  }
}

interface Promotable {
  readonly id: string;
  readonly candidate: { readonly digest: string; readonly collateral: string[] | null };
}

const changeOf = (address: string): ResourceChange => ({
  address,
  action: 'update',
  before: { a: 1 },
  after: { a: 2 },
});

const spec = {
  executor: {
    kind: 'command',
    apply: [{ name: 'act', run: ['true'] }],
    destroy: [{ name: 'remove', run: ['true'] }],
    detect: [{ name: 'look', run: ['true'] }],
  },
  variables: {
    type: 'object',
    properties: {
      a: {},
      b: {},
      size: { type: 'object' },
      token: { type: 'string', writeOnly: true },
      pin: { type: 'integer', writeOnly: true },
      isHidden: { type: 'boolean', writeOnly: true },
    },
  },
};

export async function startUndoStage(): Promise<UndoStage> {
  const api = await startApi();
  const tenant = await makeTenant(api, { kind: 'development' });
  const admin = await api.addUser('admin');
  const steps = new RunSteps(api, admin);
  return new UndoStage(api, tenant, { template: await publish(admin), steps });
}

async function publish(maintainer: ApiUser): Promise<string> {
  const slug = `undone-${randomUUID()}`;
  const { id } = await maintainer.make('/registry/templates', { name: 'Undone', slug });
  for (const version of ['1.0.0', '2.0.0'])
    await maintainer.make(`/registry/templates/${id}/versions`, { version, spec, changelog: version });
  return id;
}
