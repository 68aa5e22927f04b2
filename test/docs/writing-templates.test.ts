import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TemplateSpec } from '#domain/registry/spec.ts';
import { formats } from '#domain/registry/variables/engine.ts';
import { defaultTimeouts } from '#domain/runs/model.ts';
import { Caller } from '#test/support/api/caller.ts';
import { type System, startSystem } from '#test/support/system.ts';
import { commands, publish, runToEnd } from '#test/support/templates.ts';
import { codeBlocks, prose, tableUnder } from './markdown.ts';

const page = 'docs/writing-templates.md';
const blocks = codeBlocks(page);

let system: System;
let caller: Caller;
beforeAll(async () => {
  system = await startSystem();
  caller = system.administrator;
});
afterAll(async () => {
  await system?.close();
});

/** A spec of the page, with the page's files inserted. */
function specOf(name: string) {
  const spec = JSON.parse(blocks.find(({ info }) => info === `json template ${name}`)?.text ?? '');
  for (const path of Object.keys(spec.executor.files)) {
    spec.executor.files[path] = blocks.find(({ info }) => info.endsWith(` file ${path}`))?.text ?? '';
  }
  return spec;
}

async function reviewAs(reviewer: Caller, run: { id: string; plan: { digest: string } }) {
  const review = { decision: 'approve', plan_digest: run.plan.digest };
  const answer = await reviewer.post(`/runs/${run.id}/approval/review`, review);
  expect(answer.status, answer.text).toBe(200);
}

describe('the OpenTofu example', () => {
  it('can be published and run; its secret is masked and its output is shown', async () => {
    const template_id = await publish(caller, 'network', specOf('network'));
    const run = await runToEnd(caller, { template_id, variables: { token: 'a secret token' } });
    expect(run, run.status_reason).toMatchObject({
      status: 'succeeded',
      variables: { cidr: '10.0.0.0/16', token: { sensitive: true } },
      outputs: { cidr: { value: '10.0.0.0/16', sensitive: false } },
    });
    const wrong = await caller.post('/runs', { template_id, variables: { cidr: 'ten', token: 'short' } });
    expect(wrong.status).toBe(422);
    expect(wrong.body.error).toMatch(/\/cidr .*\/token /s);
  });
});

describe('the command example', () => {
  it('can be published and run: it creates, leaves unchanged, updates, and destroys after an approval', async () => {
    const template_id = await publish(caller, 'greeting', specOf('greeting'));
    const greet = (name: string, rest: object = {}, statuses?: string[]) =>
      runToEnd(caller, { template_id, variables: { name }, ...rest }, statuses);
    expect(await greet('Ana')).toMatchObject({
      status: 'succeeded',
      plan: { summary: { add: 1, change: 0, destroy: 0 } },
      outputs: { text: { value: 'Hello, Ana', sensitive: false } },
    });
    expect(await greet('Ana')).toMatchObject({
      status: 'succeeded',
      plan: { summary: { add: 0, change: 0, destroy: 0 } },
    });
    const changed = await greet('Bea');
    expect(changed).toMatchObject({ status: 'succeeded', plan: { summary: { add: 0, change: 1, destroy: 0 } } });
    const plan = await caller.get(`/runs/${changed.id}/plan`);
    expect(plan.body.changes).toMatchObject([
      { address: 'greeting', action: 'update', before: { name: 'Ana' }, after: { name: 'Bea' } },
    ]);
    const destruction = await greet('Bea', { operation: 'destroy' }, ['pending_approval']);
    const bea = await secondPerson();
    await reviewAs(bea, destruction);
    expect(await caller.awaitRun(destruction.id, ['succeeded'])).toMatchObject({ plan: { summary: { destroy: 1 } } });
    expect(await greet('Ana', { operation: 'plan' })).toMatchObject({ plan: { summary: { add: 1 } } });
  });

  it('gets the documented files and environment variables', async () => {
    const script = 'env | cut -d= -f1 | grep ^COORDINATOR_ | sort; cat variables.json; echo; ls';
    const spec = {
      ...commands({ look: script }, { plan: [{ name: 'plan', run: ['sh', '-c', 'echo kept > plan/note'] }] }),
      variables: {
        type: 'object',
        properties: { 'two-words': { type: 'array' }, secret: { type: 'string', writeOnly: true } },
      },
    };
    const template_id = await publish(caller, 'environment', spec);
    const run = await runToEnd(caller, { template_id, variables: { 'two-words': [1], secret: 'known to the file' } });
    const log = (await caller.get(`/runs/${run.id}/logs`, { accept: 'text/plain' })).text;
    const seen = [...log.matchAll(/^COORDINATOR_\w+$/gm)].map(([name]) => name);
    const documented = documentedNames();
    const mark = 'COORDINATOR_ATTEMPT';
    expect(seen.filter((name) => ![mark, ...documented].includes(name))).toEqual(['COORDINATOR_VAR_TWO_WORDS']);
    expect(documented.filter((name) => !seen.includes(name))).toEqual([]);
    expect(log).toContain('"two-words":[1]');
    expect(log).toContain('"secret":"[redacted]"');
    expect(log).toMatch(/^plan$/m);
  });
});

/** The environment variables on the page, except for the one that is a pattern. */
function documentedNames(): string[] {
  const rows = tableUnder(page, '## Commands', 1).flatMap(([names = '']) => names.split(', '));
  return rows.map((name) => name.replaceAll('`', '')).filter((name) => !name.includes('<'));
}

async function secondPerson(): Promise<Caller> {
  const person = { email: 'bea@example.com', name: 'Bea', role: 'maintainer', password: 'a second pair of eyes' };
  expect((await caller.post('/users', person)).status).toBe(201);
  return Caller.signIn(system.url, person.email, person.password);
}

describe('the page about templates', () => {
  it('lists exactly the fields of a spec', () => {
    const fields = tableUnder(page, '# Writing templates').map(([field]) => field?.replaceAll('`', ''));
    expect(fields.sort()).toEqual(Object.keys(TemplateSpec.shape).sort());
  });

  it('states the default timeouts', () => {
    expect(defaultTimeouts).toEqual({ plan: 3600, approval: 7 * 24 * 3600, apply: 3600 });
  });

  it('shows only executors that can be published', () => {
    const executors = blocks.filter(({ info }) => info === 'json executor');
    expect(executors).toHaveLength(1);
    for (const { text } of executors) TemplateSpec.parse({ executor: JSON.parse(text) });
  });

  it('lists every format of variables', () => {
    for (const format of Object.keys(formats)) expect(prose(page)).toContain(`\`${format}\``);
  });
});
