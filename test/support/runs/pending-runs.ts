import { expect } from 'vitest';
import { type ResourceChange, summarizePlan } from '#domain/runs/plans/model.ts';
import { join, makeTenant, type Tenant } from '../access/tenancy.ts';
import type { ApiUser, TestApi } from '../api/in-process-api.ts';
import { aPlan, executing, RunSteps } from './run-steps.ts';

const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } };

/** A team in which one person publishes, one asks for runs, and others review them. */
export class PendingRuns {
  readonly tenant: Tenant;
  readonly asker: ApiUser;
  readonly reviewers: readonly ApiUser[];
  readonly #api: TestApi;
  readonly #steps: RunSteps;
  readonly #template: string;
  #made = 0;

  private constructor(
    api: TestApi,
    people: { tenant: Tenant; asker: ApiUser; reviewers: ApiUser[] },
    work: { steps: RunSteps; template: string },
  ) {
    this.#api = api;
    this.tenant = people.tenant;
    this.asker = people.asker;
    this.reviewers = people.reviewers;
    this.#steps = work.steps;
    this.#template = work.template;
  }

  /** @param required how many approvals every run needs */
  static async start(api: TestApi, required = 2): Promise<PendingRuns> {
    const admin = await api.addUser('admin', 'Root');
    const tenant = await makeTenant(api, { approval_policy: { required, when: 'always', allow_self: false } });
    const people: ApiUser[] = [];
    for (const name of ['Pia Publisher', 'Aki Asker', 'Rita Reviewer', 'Sam Second']) {
      const person = await api.addUser('operator', name);
      await join(tenant, person, 'member', 'admin');
      people.push(person);
    }
    const [publisher, asker, ...reviewers] = people as [ApiUser, ApiUser, ...ApiUser[]];
    const steps = new RunSteps(api, admin);
    const { id: template } = await publisher.make('/registry/templates', { name: 'Network', team_id: tenant.team });
    await publisher.make(`/registry/templates/${template}/versions`, { version: '1.0.0', spec });
    return new PendingRuns(api, { tenant, asker, reviewers }, { steps, template });
  }

  /** Admits a run whose plan has these changes, and lets it wait for approval. Returns its id. */
  async add(changes: readonly ResourceChange[], more: object = {}): Promise<string> {
    const { runId, attemptId } = await this.begin(more);
    const plan = aPlan({ changes, summary: summarizePlan(changes) });
    await this.#steps.complete(attemptId, { outcome: 'planned', plan });
    await this.#steps.next({ runId, executed: attemptId });
    return runId;
  }

  /** Admits a run that is being planned. */
  async begin(more: object = {}): Promise<{ runId: string; attemptId: string }> {
    const instance = `net-${++this.#made}`;
    const body = { template_id: this.#template, environment_id: this.tenant.environment, instance, ...more };
    const { body: run, text } = await this.asker.post('/runs', body);
    expect(run.id, text).toBeTypeOf('string');
    // The workers of earlier runs may count as lost in a slow test.
    const tools = [{ name: 'opentofu', version: '1.12.6' }] as const;
    const worker = await this.#steps.worker('sandbox', 'default', [...tools]);
    const attemptId = executing(await this.#steps.next({ runId: run.id }));
    await this.#steps.claim(attemptId, worker, 'sandbox', [...tools]);
    return { runId: run.id, attemptId };
  }

  /** Ends the planning of a run without a plan. */
  async failPlan({ runId, attemptId }: { runId: string; attemptId: string }): Promise<void> {
    await this.#steps.complete(attemptId, { outcome: 'failed', reason: 'plan_failed' });
    await this.#steps.next({ runId, executed: attemptId });
  }

  /** Gives a run another plan than the one that it had, as a new release of the service could. */
  async movePlan(runId: string): Promise<void> {
    const digest = `sha256:${'f'.repeat(64)}`;
    await this.#api.rows('update run_plans set digest = ? where run_id = ?', [digest, runId]);
    await this.#api.rows('update runs set plan_digest = ?, revision = revision + 1 where id = ?', [digest, runId]);
  }
}

export function change(
  action: ResourceChange['action'],
  address: string,
  before: unknown,
  after: unknown,
): ResourceChange {
  return { action, address, before, after } as ResourceChange;
}
