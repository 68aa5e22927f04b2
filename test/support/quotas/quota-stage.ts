import { expect } from 'vitest';
import { makeTenant, type Tenant } from '../access/tenancy.ts';
import type { ApiAnswer, ApiUser, TestApi } from '../api/in-process-api.ts';
import { executing, RunSteps } from '../runs/run-steps.ts';

/** A tenant whose quotas an administrator sets. Runs go step by step: no workflow moves them. */
export class QuotaStage {
  readonly api: TestApi;
  readonly admin: ApiUser;
  readonly tenant: Tenant;
  readonly steps: RunSteps;
  readonly template: string;
  #instances = 0;

  constructor(api: TestApi, admin: ApiUser, tenant: Tenant, steps: RunSteps, template: string) {
    this.api = api;
    this.admin = admin;
    this.tenant = tenant;
    this.steps = steps;
    this.template = template;
  }

  async limit(scope: string, id: string, limits: object): Promise<ApiAnswer['body']> {
    const { status, body, text } = await this.admin.put(`/admin/quotas/${scope}/${id}`, { limits });
    expect(status, text).toBe(200);
    return body;
  }

  clear(scope: string, id: string): Promise<ApiAnswer> {
    return this.admin.delete(`/admin/quotas/${scope}/${id}`);
  }

  /** What an owner uses, by kind. */
  async used(scope: string, id: string): Promise<Record<string, number | null>> {
    const { body } = await this.admin.get(`/admin/quotas/${scope}/${id}`);
    return Object.fromEntries(body.usage.map(({ kind, used }: { kind: string; used: number | null }) => [kind, used]));
  }

  run(more: object = {}, as: ApiUser = this.tenant.owner): Promise<ApiAnswer> {
    const { environment } = this.tenant;
    const instance = `i-${++this.#instances}`;
    return as.post('/runs', { template_id: this.template, environment_id: environment, instance, ...more });
  }

  async admit(more: object = {}): Promise<string> {
    const { status, body, text } = await this.run(more);
    expect(status, text).toBe(202);
    return body.id;
  }

  /** Takes the next step of a run; returns its attempt if it executes, else what it waits for. */
  async step(runId: string, more: object = {}) {
    const next = await this.steps.next({ runId, ...more });
    const { body } = await this.tenant.owner.get(`/runs/${runId}`);
    return { attempt: next.kind === 'execute' ? executing(next) : null, waiting: body.waiting_on, run: body };
  }

  async cancel(runId: string): Promise<void> {
    const { status, text } = await this.tenant.owner.post(`/runs/${runId}/cancel`, { force: true });
    expect(status, text).toBe(202);
  }

  /** The ids of the runs that something wakes, in order. No engine takes the messages. */
  async wokenBy(act: () => Promise<unknown>): Promise<string[]> {
    const [{ last } = { last: '0' }] = await this.api.rows<{ last: string }>(
      'select coalesce(max(id), 0) as last from outbox',
    );
    await act();
    const woken = await this.api.rows<{ id: string }>(
      `select r.id from outbox o join runs r on r.idempotency_key::text = o.target
        where o.id > ? and o.payload ->> 'kind' = 'signal' order by o.id`,
      [last],
    );
    return woken.map(({ id }) => id);
  }
}

/** Answers how to make tenants that share a template, a worker and an administrator. */
export async function startQuotaStages(api: TestApi) {
  const admin = await api.addUser('admin');
  const steps = new RunSteps(api, admin);
  await steps.worker('sandbox');
  const template = await steps.publish();
  return async (environment: Record<string, unknown> = {}) =>
    new QuotaStage(api, admin, await makeTenant(api, environment), steps, template);
}
