import { required } from './answers.ts';
import type { People, PersonKey } from './people.ts';
import { lockReason, saleReason } from './runs/stories/waiting-runs.ts';
import type { SeededProject, Tenants } from './tenants.ts';

type Kind = 'development' | 'staging' | 'production';

interface EnvironmentPlan {
  readonly project: string;
  readonly name: string;
  readonly kind: Kind;
  readonly by: PersonKey;
  readonly policy?: object;
  readonly ttl?: string;
}

const [onChanges, onDestroys] = [
  { required: 1, when: 'changes' },
  { required: 1, when: 'destroys' },
];

const plans = {
  networkDevelopment: { project: 'network', name: 'Development', kind: 'development', by: 'owner', ttl: '14d' },
  networkStaging: { project: 'network', name: 'Staging', kind: 'staging', by: 'owner', policy: onDestroys },
  networkProduction: {
    project: 'network',
    name: 'Production',
    kind: 'production',
    by: 'owner',
    policy: { required: 2, when: 'always' },
  },
  observabilityProduction: { project: 'observability', name: 'Production', kind: 'production', by: 'owner' },
  ledgerStaging: { project: 'ledger', name: 'Staging', kind: 'staging', by: 'maintainer', policy: onChanges },
  ledgerProduction: {
    project: 'ledger',
    name: 'Production',
    kind: 'production',
    by: 'maintainer',
    policy: { required: 2, when: 'changes' },
  },
  checkoutDevelopment: { project: 'checkout', name: 'Development', kind: 'development', by: 'maintainer', ttl: '72h' },
  checkoutProduction: { project: 'checkout', name: 'Production', kind: 'production', by: 'maintainer' },
  shopDevelopment: { project: 'shop', name: 'Development', kind: 'development', by: 'owner' },
  shopStaging: { project: 'shop', name: 'Staging', kind: 'staging', by: 'owner' },
  shopProduction: { project: 'shop', name: 'Production', kind: 'production', by: 'owner' },
  trackingProduction: { project: 'tracking', name: 'Production', kind: 'production', by: 'fjordOwner' },
  depotStaging: { project: 'depot', name: 'Staging', kind: 'staging', by: 'fjordOwner' },
  lakehouseDevelopment: { project: 'lakehouse', name: 'Development', kind: 'development', by: 'fjordOwner' },
  lakehouseProduction: { project: 'lakehouse', name: 'Production', kind: 'production', by: 'fjordOwner' },
} as const satisfies Record<string, EnvironmentPlan>;

export type EnvironmentKey = keyof typeof plans;

export interface SeededEnvironment {
  readonly id: string;
  readonly name: string;
  readonly kind: Kind;
  readonly project: SeededProject;
  readonly approval: { readonly required: number; readonly when: string; readonly allow_self: boolean };
}
export type Environments = Readonly<Record<EnvironmentKey, SeededEnvironment>>;

export async function addEnvironments(people: People, { projects }: Tenants): Promise<Environments> {
  const made: [string, SeededEnvironment][] = [];
  for (const [key, plan] of Object.entries<EnvironmentPlan>(plans)) {
    const project = projects[plan.project];
    if (!project) throw new Error(`there is no project ${plan.project}`);
    const body = await people[plan.by].make('/environments', {
      project_id: project.id,
      name: plan.name,
      kind: plan.kind,
      ...(plan.policy && { approval_policy: plan.policy }),
      ...(plan.ttl && { ttl: plan.ttl }),
    });
    const approval = body['approval_policy'] as SeededEnvironment['approval'];
    made.push([key, { id: body.id, name: plan.name, kind: plan.kind, project, approval }]);
  }
  return Object.fromEntries(made) as Environments;
}

/** What keeps applies from starting: a lock, a freeze window that is open now, and others. */
export async function addHolds(people: People, environments: Environments): Promise<void> {
  const lock = { reason: lockReason };
  required(await people.maintainer.put(`/environments/${environments.ledgerProduction.id}/lock`, lock), 200);
  const weekend = {
    name: 'Weekends',
    reason: 'Nobody is on call for releases.',
    weekly: { starts: { day: 'friday', time: '16:00' }, ends: { day: 'monday', time: '07:00' } },
    time_zone: 'Europe/Berlin',
  };
  const hour = 60 * 60_000;
  const sale = {
    name: 'Autumn sale',
    reason: saleReason,
    starts_at: new Date(Date.now() - 30 * hour).toISOString(),
    ends_at: new Date(Date.now() + 42 * hour).toISOString(),
  };
  await setWindows(people.maintainer, environments.checkoutProduction, [sale, weekend]);
  await setWindows(people.owner, environments.shopProduction, [weekend]);
}

async function setWindows(by: People['owner'], { id }: SeededEnvironment, windows: object[]): Promise<void> {
  required(await by.put(`/environments/${id}/freeze-windows`, { freeze_windows: windows }), 200);
}

/** Variables that runs of the environments get: plain ones, structured ones, and secrets of one phase. */
export async function addVariables(people: People, environments: Environments): Promise<void> {
  const plain = (value: unknown) => ({ value, category: 'template' });
  const env = (value: string, more: object = {}) => ({ value, category: 'env', ...more });
  const secret = { sensitive: true };
  const region = { region: plain('eu-central-1'), AWS_REGION: env('eu-central-1') };
  await setVariables(people.owner, environments.networkProduction, {
    ...region,
    tags: plain({ cost_center: 'CC-1140', owner: 'platform', confidentiality: 'internal' }),
    AWS_ACCESS_KEY_ID: env('AKIAQ7EXAMPLE4TFJ2LM', { ...secret, phases: ['plan'] }),
    AWS_SECRET_ACCESS_KEY: env('not-a-real-key-0123456789abcdef', { ...secret, phases: ['plan'] }),
    AWS_ROLE_ARN: env('arn:aws:iam::111122223333:role/deploy', { phases: ['apply'] }),
  });
  await setVariables(people.owner, environments.networkStaging, region);
  await setVariables(people.maintainer, environments.ledgerProduction, {
    ...region,
    DATABASE_URL: env('postgres://ledger:secret@db.internal/ledger', secret),
    HTTPS_PROXY: env('http://proxy.northwind.example:3128'),
  });
  await setVariables(people.maintainer, environments.checkoutProduction, { replicas: plain(6) });
}

async function setVariables(by: People['owner'], { id }: SeededEnvironment, variables: Record<string, object>) {
  const list = Object.entries(variables).map(([name, variable]) => ({ name, ...variable }));
  required(await by.put(`/environments/${id}/variables`, { variables: list }), 200);
}
