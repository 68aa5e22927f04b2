import { keepSigningKeys } from '#domain/workload-identity/signing-keys/rotation.ts';
import { mintToken, type TokenRequest } from '#domain/workload-identity/tokens/mint.ts';
import { makeTenant, type Tenant } from '../access/tenancy.ts';
import { startApi, type TestApi } from '../api/in-process-api.ts';
import { RunSteps } from '../runs/run-steps.ts';

export const audience = 'sts.example.com';

/** An attempt that a worker executes. */
interface Executed {
  readonly runId: string;
  readonly attemptId: string;
}

/** An API with an issuer and a signing key, a tenant, and a worker that executes attempts of its runs. */
export interface IdentityStage {
  readonly api: TestApi;
  readonly tenant: Tenant;
  readonly steps: RunSteps;
  readonly worker: string;
  readonly issuer: string | null;
  /** Admits a run in the tenant's environment and has the worker claim its plan, or its apply. */
  planning(spec?: object): Promise<Executed>;
  applying(): Promise<Executed>;
  /** A token for the worker's attempt. */
  mint(attempt: Pick<Executed, 'attemptId'>, request?: Partial<TokenRequest>): Promise<string>;
  /** One pass of the upkeep of signing keys, as workers do it. Returns the id of the new key, or null. */
  keepKeys(days?: number): Promise<string | null>;
  /** Makes the signing keys older, as if hours had passed. */
  passHours(hours: number): Promise<void>;
}

export async function openIdentityStage(issuer: string | null): Promise<IdentityStage> {
  const api = await startApi(issuer === null ? {} : { COORDINATOR_ISSUER: issuer });
  const { orm, keyRing, transactions, installation } = api.services;
  const tenant = await makeTenant(api);
  const steps = new RunSteps(api, await api.addUser('admin'));
  const worker = await steps.worker('none');
  let instances = 0;
  const place = () => ({ environment_id: tenant.environment, instance: `i-${++instances}` });
  const deps = { orm, keyRing, transactions, bindingKey: installation.bindingKey };
  await keepSigningKeys({ ...deps, signingKeyDays: 90 });
  return {
    ...{ api, tenant, steps, worker, issuer },
    planning: (spec = {}) => steps.planning(worker, 'none', place(), spec),
    applying: () => steps.applying(worker, 'none', place()),
    mint: ({ attemptId }, request = {}) =>
      orm.em
        .fork()
        .transactional((em) => mintToken(em, keyRing, { attemptId, workerId: worker, issuer, audience, ...request })),
    keepKeys: (days = 90) => keepSigningKeys({ ...deps, signingKeyDays: days }),
    passHours: async (hours) => {
      await api.rows(
        `update signing_keys set signs_from = signs_from - ? * interval '1 hour', created_at = created_at - ? * interval '1 hour'`,
        [hours, hours],
      );
    },
  };
}
