import { randomUUID } from 'node:crypto';
import { registerWorker } from '#domain/workers/store.ts';
import type { TestApi } from '../api/in-process-api.ts';
import { required } from './answers.ts';
import type { Environments } from './environments.ts';
import type { People } from './people.ts';
import type { Tenants } from './tenants.ts';

const tools = [
  { name: 'opentofu', version: '1.10.6' },
  { name: 'command', version: '1' },
];

/** The workers by the pool that they serve first. */
export type Workers = Readonly<Record<'default' | 'cloud', string>>;

/** Adds pools and workers: live, draining, lost, and one without a sandbox. The pool `edge` has none that lives. */
export async function addWorkers(
  api: TestApi,
  people: People,
  { teams }: Tenants,
  environments: Environments,
): Promise<Workers> {
  const pools = [
    { name: 'default', isolation: 'sandbox' },
    {
      name: 'cloud',
      isolation: 'sandbox',
      egress: { policy: 'allow', allow: ['*.amazonaws.com', 'registry.opentofu.org', '10.0.0.0/8'] },
    },
    { name: 'edge', team_ids: [teams.fleet.id], egress: { policy: 'allow', allow: ['*.depot.fjord.example'] } },
    {
      name: 'payments-restricted',
      isolation: 'sandbox',
      team_ids: [teams.payments.id],
      environment_ids: [environments.ledgerProduction.id],
      egress: { policy: 'none' },
    },
  ];
  for (const pool of pools) required(await people.admin.post('/worker-pools', pool), 201);
  const first = await addWorker(api, {
    host: 'worker-1.northwind.internal',
    pools: ['default', 'cloud'],
    concurrency: 8,
  });
  const second = await addWorker(api, { host: 'worker-2.northwind.internal', pools: ['cloud'], concurrency: 4 });
  await addWorker(api, { host: 'worker-3.northwind.internal', pools: ['default'], concurrency: 8, draining: true });
  await addWorker(api, {
    host: 'laptop-of-jonas.northwind.internal',
    pools: ['default'],
    concurrency: 1,
    isolation: 'none',
  });
  await addWorker(api, {
    host: 'edge-gateway-7.fjord.internal',
    pools: ['edge'],
    concurrency: 2,
    silentFor: '3 hours',
  });
  return { default: first, cloud: second };
}

interface WorkerPlan {
  readonly host: string;
  readonly pools: string[];
  readonly concurrency: number;
  readonly isolation?: 'none';
  readonly draining?: boolean;
  readonly silentFor?: string;
}

async function addWorker(
  api: TestApi,
  { host, pools, concurrency, isolation, draining = false, silentFor }: WorkerPlan,
): Promise<string> {
  const id = randomUUID();
  const containment =
    isolation === 'none'
      ? ({
          isolation,
          limits: 'process',
          isolationReason: 'the kernel does not allow unprivileged user namespaces',
        } as const)
      : ({ isolation: 'sandbox', limits: 'cgroup', isolationReason: null } as const);
  await registerWorker(api.services.orm.em.fork(), {
    id,
    host,
    processId: 412,
    version: '0.1.0',
    pools,
    tools,
    concurrency,
    ...containment,
  });
  // Their heartbeats stay fresh for as long as anybody looks at the pages.
  const heartbeat = silentFor === undefined ? `now() + interval '1 day'` : `now() - interval '${silentFor}'`;
  await api.rows(
    `update workers set started_at = now() - interval '9 days', heartbeat_at = ${heartbeat}, draining = ?::boolean,
            lost_at = ${silentFor === undefined ? 'null' : heartbeat} where id = ?`,
    [draining, id],
  );
  return id;
}
