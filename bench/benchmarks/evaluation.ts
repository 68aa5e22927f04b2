import { setTimeout as sleep } from 'node:timers/promises';
import { type Benchmark, type Comparison, interleave } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { HttpClient } from '../load/http-client.ts';
import { latencyFigures, runLoad } from '../load/load.ts';
import { command, createTenant, publish } from '../load/tenant.ts';
import type { Sample } from '../report/statistics.ts';

const reads = 1_000;
const admissions = 100;
/** Each may use ten seconds of processor time a minute, so they last longer than the reads. */
const attackers = 8;
const callsOfEach = 5;
/** Time for the calls to arrive and the threads to start. */
const settleMs = 500;

export const evaluation: Benchmark = {
  name: 'evaluation',
  about:
    `\`GET /runs/{id}\`, one request at a time, beside ${attackers * callsOfEach} calls of \`validate\` at once all the time, from ${attackers} ` +
    'callers, against a schema whose evaluation never ends by itself. The other arm reads alone. Then admissions of runs, one at a time, ' +
    'whose one variable has a `pattern`, which a thread evaluates, compared with the same variable without it, which the main thread ' +
    'evaluates.',
  run: async (testbed) => {
    const installation = await testbed.open('evaluation');
    try {
      return await measure(testbed, installation);
    } finally {
      await installation.close();
    }
  },
};

async function measure(testbed: Testbed, installation: Installation): Promise<Comparison[]> {
  const { http } = installation;
  const { teamId, environmentId } = await createTenant(http);
  const make = (slug: string, variables: object) => publish(http, teamId, slug, { ...command('true'), variables });
  const [costly, plain, pattern] = [
    await make('costly', costlySchema()),
    await make('plain', { type: 'object', properties: { name: { type: 'string' } } }),
    await make('pattern', { type: 'object', properties: { name: { type: 'string', pattern: '^[a-z]+$' } } }),
  ];
  const request = { environment_id: environmentId, variables: { name: 'network' } };
  const { id } = await http.call('POST', '/runs', { ...request, template_id: plain });
  const read = () => timed(reads, () => http.call('GET', `/runs/${id}`));
  const [beside, alone] = ['beside costly evaluations', 'alone'];
  const disturbed = await interleave(testbed, {
    [beside]: () => besideAttack(installation, { teamId, templateId: costly }, read),
    [alone]: read,
  });
  const admit = (template: string) => () =>
    timed(admissions, () =>
      http.call('POST', '/runs', { ...request, template_id: template, instance: `bench-${crypto.randomUUID()}` }),
    );
  const [inThread, onMain] = ['in a thread', 'on the main thread'];
  const admitted = await interleave(testbed, { [inThread]: admit(pattern), [onMain]: admit(plain) });
  const compare = (what: string, figure: string, from: typeof disturbed, arms: [string, string]): Comparison => ({
    what,
    unit: 'ms',
    target: null,
    service: from(arms[0], figure),
    other: from(arms[1], figure),
  });
  return [
    { ...compare('one run, p99', 'p99_ms', disturbed, [beside, alone]), target: { atMost: 1.5 } },
    compare('one run, median', 'median_ms', disturbed, [beside, alone]),
    compare('one admission, p99', 'p99_ms', admitted, [inThread, onMain]),
    compare('one admission, median', 'median_ms', admitted, [inThread, onMain]),
  ];
}

async function timed(count: number, request: () => Promise<unknown>): Promise<Sample> {
  return { ...latencyFigures(await runLoad(count, 1, async () => void (await request()))) };
}

/** Every round has new callers, whose budgets are full. */
async function besideAttack(
  installation: Installation,
  { teamId, templateId }: { teamId: string; templateId: string },
  job: () => Promise<Sample>,
) {
  const path = `/registry/templates/${templateId}/versions/1.0.0/validate`;
  const callers = await Promise.all(Array.from({ length: attackers }, () => openCaller(installation, teamId)));
  let isOver = false;
  const attack = callers.flatMap((caller) =>
    Array.from({ length: callsOfEach }, async () => {
      while (!isOver) {
        const { status } = await caller.send('POST', path, { variables: { a: 'x' } });
        if (status !== 422) throw new Error(`a costly evaluation answered ${status}`);
      }
    }),
  );
  await sleep(settleMs);
  const sample = await Promise.race([job(), Promise.all(attack).then(() => Promise.reject(new Error('no attack')))]);
  isOver = true;
  await Promise.all(attack);
  await Promise.all(callers.map((caller) => caller.close()));
  return sample;
}

async function openCaller({ http, url }: Installation, teamId: string): Promise<HttpClient> {
  const account = await http.call('POST', '/service-accounts', {
    name: 'Bench',
    role: 'admin',
    owner: { team_id: teamId },
  });
  const { key } = await http.call('POST', `/service-accounts/${account.id}/api-keys`, { name: 'bench' });
  return new HttpClient(url, { 'x-api-key': key }, callsOfEach);
}

/** Each level has two branches that lead to the level below. */
function costlySchema(): object {
  const levels = Array.from({ length: 40 }, (_, level) => {
    const inner = { $ref: `#/$defs/n${level - 1}` };
    return [`n${level}`, level === 0 ? { type: 'integer' } : { anyOf: [inner, inner] }];
  });
  return { type: 'object', properties: { a: { $ref: '#/$defs/n39' } }, $defs: Object.fromEntries(levels) };
}
