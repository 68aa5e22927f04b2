import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BareWorker, startBareWorker } from '../baselines/bare-workflow/worker-process.ts';
import { type Benchmark, type Comparison, interleave } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { runAllToEnd } from '../load/runs.ts';
import { command, createTenant, publish, type Tenant } from '../load/tenant.ts';
import type { Sample } from '../report/statistics.ts';

const nodes = 60;
const slots = 4;
/** At most as many nodes at once as an assembly may have. */
const concurrency = 20;

export const assemblies: Benchmark = {
  name: 'assemblies',
  about:
    `What an assembly adds to each of its nodes: an assembly run of ${nodes} independent nodes, ${concurrency} side by side, less the time of ${nodes} plain runs ` +
    'of the same template, divided by the number of nodes. It is compared with what a plain parent workflow takes for each of as ' +
    'many child workflows of two activities that do nothing, on the same engine.',
  run: async (testbed) => {
    const installation = await testbed.open('assemblies', { settings: { WORKER_CONCURRENCY: String(slots) } });
    try {
      await installation.startWorker();
      return await measure(testbed, installation);
    } finally {
      await installation.close();
    }
  },
};

async function measure(testbed: Testbed, installation: Installation): Promise<Comparison[]> {
  const tenant = await createTenant(installation.http);
  const templateId = await publish(installation.http, tenant.teamId, 'nothing', command('true'));
  const path = await publishFan(installation, tenant);
  const bare = await startBareWorker(installation.config, testbed.directory, slots);
  const [added, children] = ['assembly', 'child workflows'];
  try {
    const figures = await interleave(testbed, {
      [added]: () => measureAddition(installation, tenant, { templateId, path }),
      [children]: () => runChildren(installation, bare),
    });
    return [
      {
        what: 'time for each node beside a child workflow',
        unit: 'ms',
        target: { atMost: 1.5 },
        service: figures(added, 'added_ms'),
        other: figures(children, 'child_ms'),
      },
    ];
  } finally {
    await bare.close();
  }
}

async function publishFan({ http }: Installation, { teamId }: Tenant): Promise<string> {
  const names = Array.from({ length: nodes }, (_, number) => `node-${number}`);
  const spec = { nodes: Object.fromEntries(names.map((name) => [name, { template: 'nothing' }])), concurrency };
  const { id } = await http.call('POST', '/assemblies', { team_id: teamId, name: 'Fan' });
  await http.call('PUT', `/assemblies/${id}/draft`, { spec });
  await http.call('POST', `/assemblies/${id}/publish`, { version: '1.0.0' });
  return `/assemblies/${id}/runs`;
}

async function measureAddition(
  installation: Installation,
  { environmentId }: Tenant,
  { templateId, path }: { templateId: string; path: string },
): Promise<Sample> {
  const request = { template_id: templateId, environment_id: environmentId };
  const plainSeconds = await runAllToEnd(installation, nodes, request);
  const assemblySeconds = await runAssembly(installation, path, environmentId);
  return {
    added_ms: (1000 * (assemblySeconds - plainSeconds)) / nodes,
    assembly_seconds: assemblySeconds,
    plain_seconds: plainSeconds,
  };
}

async function runAssembly({ http, database }: Installation, path: string, environmentId: string): Promise<number> {
  const startedAt = performance.now();
  const { id } = await http.call('POST', path, { environment_id: environmentId });
  for (;;) {
    const { rows } = await database.query('select status, finished_at from assembly_runs where id = $1', [id]);
    if (rows[0].finished_at === null) await sleep(20);
    else if (rows[0].status === 'succeeded') return (performance.now() - startedAt) / 1000;
    else throw new Error(`the assembly run ended ${rows[0].status}`);
  }
}

async function runChildren({ temporal }: Installation, { taskQueue }: BareWorker): Promise<Sample> {
  const startedAt = performance.now();
  const handle = await temporal.workflow.start('bareParent', {
    workflowId: randomUUID(),
    taskQueue,
    args: [nodes, concurrency],
  });
  await handle.result();
  return { child_ms: (performance.now() - startedAt) / nodes };
}
