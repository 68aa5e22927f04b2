import { afterAll, beforeAll, expect, it } from 'vitest';
import { ended, type System, startSystem } from '#test/support/system.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system?.close());

const show = (phase: string) => ({
  name: phase,
  run: ['sh', '-c', `echo "${phase} sees [$(env | grep -o '^SEEN_[A-Z]*' | sort | xargs)]"`],
});
const executor = { kind: 'command', plan: [show('plan')], apply: [show('apply')] };

async function make(path: string, body: object): Promise<string> {
  const { status, text, body: made } = await system.administrator.post(path, body);
  expect(status, text).toBe(201);
  return made.id;
}

async function readLog(runId: string): Promise<string> {
  const { text } = await system.administrator.get(`/runs/${runId}/logs`, { accept: 'text/plain' });
  return text;
}

/** An environment with these variables, and a template with this executor. */
async function prepare(variables: object[], steps: object) {
  const organization = await make('/organizations', { name: 'Acme', slug: `acme-${crypto.randomUUID()}` });
  const team = await make(`/organizations/${organization}/teams`, { name: 'Core' });
  const project = await make('/projects', { team_id: team, name: 'Network' });
  const environment = await make('/environments', { project_id: project, name: 'Test', kind: 'development' });
  const template = await make('/registry/templates', { name: 'Phases', slug: `phases-${team}`, team_id: team });
  await make(`/registry/templates/${template}/versions`, { version: '1.0.0', spec: { executor: steps } });
  const set = await system.administrator.send('PUT', `/environments/${environment}/variables`, { variables });
  expect(set.status, set.text).toBe(200);
  return { environment_id: environment, template_id: template };
}

it('each phase of a run, and of its requeue, gets only the variables of this phase', async () => {
  const { administrator } = system;
  const variables = [
    { name: 'SEEN_BOTH', value: 'in both', category: 'env' },
    { name: 'SEEN_PLANNING', value: 'may-only-read', category: 'env', sensitive: true, phases: ['plan'] },
    { name: 'SEEN_APPLYING', value: 'may-write-too', category: 'env', sensitive: true, phases: ['apply'] },
  ];
  const admitted = await administrator.post('/runs', await prepare(variables, executor));
  const run = await administrator.awaitRun(admitted.body.id, ended);
  expect(run.status).toBe('succeeded');
  const log = await readLog(run.id);
  expect(log).toContain('plan sees [SEEN_BOTH SEEN_PLANNING]');
  expect(log).toContain('apply sees [SEEN_APPLYING SEEN_BOTH]');

  const requeued = await administrator.post(`/runs/${run.id}/requeue`);
  await administrator.awaitRun(requeued.body.id, ended);
  const again = await readLog(requeued.body.id);
  expect(again).toContain('plan sees [SEEN_BOTH SEEN_PLANNING]');
  expect(again).toContain('apply sees [SEEN_APPLYING SEEN_BOTH]');
}, 120_000);

it('planning gets the plan_value of a variable, applying gets its value, and neither is in a log', async () => {
  const { administrator } = system;
  const value = 'first-value-may-write';
  const plan_value = 'second-value-may-read';
  const say = (phase: string, expected: string) => ({
    name: phase,
    run: ['sh', '-c', `test "$KEY" = ${expected} && echo "${phase} saw [$KEY] and not [${plan_value}]"`],
  });
  const steps = { kind: 'command', plan: [say('plan', plan_value)], apply: [say('apply', value)] };
  const variables = [{ name: 'KEY', value, plan_value, category: 'env', sensitive: true }];
  const admitted = await administrator.post('/runs', await prepare(variables, steps));
  const run = await administrator.awaitRun(admitted.body.id, ended);
  const log = await readLog(run.id);
  expect(run.status, log).toBe('succeeded');
  expect(log).toContain('plan saw [[redacted]] and not [[redacted]]');
  expect(log).toContain('apply saw [[redacted]] and not [[redacted]]');
  for (const secret of [value, plan_value]) expect(log).not.toContain(secret);
}, 120_000);
