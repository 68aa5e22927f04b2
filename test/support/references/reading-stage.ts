import { expect } from 'vitest';
import type { AttemptWork } from '#domain/runs/attempts/claim.ts';
import { newId } from '#domain/shared/ids.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { makeTenant, type Tenant } from '../access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '../api/in-process-api.ts';
import { aPlan, executing, RunSteps } from '../runs/run-steps.ts';

/** A tenant whose runs read outputs of an instance in another environment of its project. */
export interface ReadingStage {
  readonly api: TestApi;
  readonly tenant: Tenant;
  readonly steps: RunSteps;
  readonly worker: string;
  /** A template whose variables are of any type. */
  readonly template: string;
  /** The environment of what is read, whose slug is `shared`. */
  readonly shared: string;
  /** Deploys an instance with outputs; answers its id. */
  deploy(place: Place, outputs: MaskedOutputs): Promise<string>;
  /** Asks for a run in the tenant's environment, unless another is named. */
  ask(variables: object, rest?: object, caller?: ApiUser): ReturnType<ApiUser['post']>;
  /** Lets runs in environments and of teams read an instance. */
  allow(instance: string, readers: object, caller?: ApiUser): Promise<void>;
  /** Takes a run to its plan or its apply; answers what its worker gets. */
  claimPlan(runId: string): Promise<AttemptWork>;
  claimApply(runId: string, beforeApply?: () => Promise<void>): Promise<AttemptWork>;
  /** Takes a run to its end. */
  finish(runId: string, outputs?: MaskedOutputs): Promise<void>;
}

interface Place {
  readonly environment?: string;
  readonly instance?: string;
}

export const plain = (value: MaskedOutputs[string]['value']) => ({ value, sensitive: false });
export const secret = (value: MaskedOutputs[string]['value']) => ({ value, sensitive: true });

const anyVariables = {
  variables: { type: 'object', properties: { size: {}, net: {}, token: {}, own: { writeOnly: true } } },
  executor: {
    kind: 'command',
    apply: [{ name: 'go', run: ['true'] }],
    destroy: [{ name: 'gone', run: ['true'] }],
    detect: [{ name: 'look', run: ['true'] }],
  },
};

export async function openReadingStage(): Promise<ReadingStage> {
  const api = await startApi();
  const admin = await api.addUser('admin');
  const tenant = await makeTenant(api);
  const steps = new RunSteps(api, admin);
  const worker = await steps.worker('none');
  const template = await steps.publish(anyVariables);
  const place = { project_id: tenant.project, name: 'Shared', slug: 'shared', kind: 'development' };
  const shared = (await tenant.owner.make('/environments', place)).id;
  const claim = async (attemptId: string) => {
    const work = await steps.claim(attemptId, worker, 'none');
    if (!work) throw new Error(`the attempt ${attemptId} was not claimed`);
    return work;
  };
  const planning = async (runId: string) => executing(await steps.next({ runId }));
  const applying = async (runId: string) => {
    const planned = await planning(runId);
    await claim(planned);
    await steps.complete(planned, { outcome: 'planned', plan: aPlan() });
    return executing(await steps.next({ runId, executed: planned }));
  };
  const finish = async (runId: string, outputs: MaskedOutputs = {}) => {
    const attempt = await applying(runId);
    await claim(attempt);
    await steps.complete(attempt, { outcome: 'applied', outputs, resourceCount: 1 });
    await steps.next({ runId, executed: attempt });
  };
  const stage: ReadingStage = {
    ...{ api, tenant, steps, worker, template, shared, finish },
    ask: (variables, rest = {}, caller = tenant.owner) => {
      const body = { template_id: template, environment_id: tenant.environment, instance: `i-${newId()}` };
      return caller.post('/runs', { ...body, variables, ...rest });
    },
    deploy: async ({ environment = shared, instance = `s-${newId()}` }, outputs) => {
      const { status, body, text } = await stage.ask({}, { environment_id: environment, instance });
      expect(status, text).toBe(202);
      await finish(body.id, outputs);
      return body.instance_id;
    },
    allow: async (instance, readers, caller = tenant.owner) => {
      const { status, text } = await caller.put(`/instances/${instance}/readers`, readers);
      expect(status, text).toBe(200);
    },
    claimPlan: async (runId) => claim(await planning(runId)),
    claimApply: async (runId, beforeApply) => {
      const attempt = await applying(runId);
      await beforeApply?.();
      return claim(attempt);
    },
  };
  return stage;
}
