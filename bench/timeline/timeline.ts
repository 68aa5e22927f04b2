import { StartError } from '#local/errors.ts';
import type { Benchmark, Report } from '../benchmark.ts';
import { SpanFile } from '../installation/spans.ts';
import { findTofu } from '../installation/tofu.ts';
import { createTenant, publish } from '../load/tenant.ts';
import { measureCpu } from './cpu.ts';
import { configuration, type Setting } from './setting.ts';
import { measureStatements } from './statements.ts';
import { timeRun } from './timed-runs.ts';
import { measureTimes } from './times.ts';

const warmUps = 3;

export const timeline: Benchmark = {
  name: 'timeline',
  about:
    'Where the time of one run goes. A run of an OpenTofu template with one `terraform_data` resource and one output, without approval, ' +
    'whose version has run before: four runs for each round, one after another, each from its request until a client that waits (`wait`) ' +
    'sees its end, in turn with the bare calls of the tool in an empty directory. The processor time is that of as many runs without a ' +
    'pause. Then the statements that all processes of the service send to PostgreSQL, as `log_statement = all` logs them (`begin` and ' +
    '`commit` included): for two runs of each round, from the request to the end, and for a minute without work.',
  run: async (testbed) => {
    const tool = findTofu();
    if (tool === null) throw new StartError('Neither OpenTofu nor Terraform was found: put `tofu` on PATH.');
    const spans = new SpanFile(testbed.directory);
    const installation = await testbed.open('timeline', { settings: { WORKER_CONCURRENCY: '4', ...spans.settings } });
    try {
      await installation.startWorker();
      const request = await publishTemplate(installation.http);
      return await measure({ testbed, installation, tool, spans, run: () => timeRun(installation, request) });
    } finally {
      await installation.close();
    }
  },
};

async function publishTemplate(http: Setting['installation']['http']): Promise<object> {
  const { teamId, environmentId } = await createTenant(http);
  const spec = { outputs: { cidr: {} }, executor: { kind: 'opentofu', files: { 'main.tf': configuration } } };
  return { template_id: await publish(http, teamId, 'network', spec), environment_id: environmentId };
}

async function measure(setting: Setting): Promise<Report> {
  for (let count = 0; count < warmUps; count += 1) await setting.run();
  const times = await measureTimes(setting);
  const cpu = await measureCpu(setting);
  const statements = await measureStatements(setting);
  return {
    comparisons: [...times.comparisons, ...cpu, ...statements.comparisons],
    tables: [...times.tables, ...statements.tables],
  };
}
