import { type Benchmark, type Comparison, interleave } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { runLoad } from '../load/load.ts';
import { admitRun, waitForStatus } from '../load/runs.ts';
import { awaitSuccess, openScanner } from '../load/scans.ts';
import { createTenant, publish } from '../load/tenant.ts';
import type { Sample } from '../report/statistics.ts';
import { parts, readCpu } from '../resources/service-cpu.ts';

const perRound = 40;
const slots = 4;

/** Only an apply has something to do. */
const script = `case "$COORDINATOR_OPERATION" in
  apply) echo '[{"address": "it", "action": "create"}]' ;;
  *) echo '[]' ;;
esac > plan.json`;
const look = [{ name: 'look', run: ['sh', '-c', script] }];
const spec = {
  executor: { kind: 'command', plan: look, apply: [{ name: 'nothing', run: ['true'] }], detect: look },
};

export const scans: Benchmark = {
  name: 'scans',
  about:
    `What the service itself spends on a scan for drift. Each round scans ${perRound} instances, ${slots} side by side, by \`detect\` steps that write an ` +
    'empty result, and makes as many plans of the same instances by the same steps. Of a scan, no request is part: nobody asks the API for it.',
  run: async (testbed) => {
    const installation = await testbed.open('scans', { settings: { WORKER_CONCURRENCY: String(slots) } });
    try {
      await installation.startWorker();
      return await measure(testbed, installation);
    } finally {
      await installation.close();
    }
  },
};

async function measure(testbed: Testbed, installation: Installation): Promise<Comparison[]> {
  const { http } = installation;
  const { teamId, environmentId } = await createTenant(http);
  const request = {
    template_id: await publish(http, teamId, 'looks', spec),
    environment_id: environmentId,
  };
  const instances: { id: string; name: string }[] = [];
  await runLoad(perRound, slots, async () => void instances.push(await deploy(installation, request)));
  const scanner = await openScanner(installation);
  try {
    const scanOne = async (index: number) => awaitSuccess(installation, await scanner.scan(instances[index]?.id ?? ''));
    const planOne = async (index: number) => {
      const plan = { ...request, instance: instances[index]?.name, operation: 'plan' };
      await awaitSuccess(installation, (await http.call('POST', '/runs', plan)).id);
    };
    const figures = await interleave(testbed, {
      scans: () => measureRound(installation, scanOne),
      plans: () => measureRound(installation, planOne),
    });
    return ['time', ...parts].map((what) => ({
      what: what === 'time' ? 'time of a scan, divided by those side by side' : `CPU of a scan: ${what}`,
      unit: 'ms',
      target: what === 'time' ? { atMost: 1.1 } : null,
      service: figures('scans', what),
      other: figures('plans', what),
    }));
  } finally {
    await scanner.close();
  }
}

async function deploy({ http }: Installation, request: object): Promise<{ id: string; name: string }> {
  const id = await admitRun(http, request);
  await waitForStatus(http, id, 'succeeded');
  const run = await http.call('GET', `/runs/${id}`);
  return { id: run.instance_id, name: run.instance };
}

async function measureRound(installation: Installation, one: (index: number) => Promise<void>): Promise<Sample> {
  const before = readCpu(installation);
  const { seconds } = await runLoad(perRound, slots, one);
  const after = readCpu(installation);
  const cpu = parts.map((part) => [part, (after[part] - before[part]) / perRound] as const);
  return { time: (seconds * 1000) / perRound, ...Object.fromEntries(cpu) };
}
