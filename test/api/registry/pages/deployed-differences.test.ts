import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join } from '#test/support/access/tenancy.ts';
import { wordsOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { openReadingStage, type ReadingStage } from '#test/support/references/reading-stage.ts';
import { comparedBy, differencesOn, labelOf, sendForm } from './deploy-form-page.ts';

/** The form that deploys an instance again describes the changes that were typed, and deployed secrets. */

let stage: ReadingStage;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
let template: string;
beforeAll(async () => {
  stage = await openReadingStage();
  const properties = { region: { type: 'string' }, size: { type: 'integer' }, extra: {} };
  const token = { type: 'string', writeOnly: true };
  const executor = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };
  template = await stage.steps.publish({
    variables: { type: 'object', properties: { ...properties, token, password: token } },
    executor,
  });
  visitor = await signInVisitor(stage.api, stage.tenant.owner);
});
afterAll(() => stage?.api.close());

async function deployed(variables: object): Promise<string> {
  const instance = `web-${randomUUID().slice(0, 8)}`;
  const { body, status, text } = await stage.ask(variables, { template_id: template, version: '1.0.0', instance });
  expect(status, text).toBe(202);
  await stage.finish(body.id);
  return `/catalog/${template}/run?from_instance=${body.instance_id}`;
}

const send = (address: string, fields: Record<string, string>, sender = visitor) => sendForm(sender, address, fields);
const later = 'What you change in the form from here on is compared before anything starts.';

describe('the list of changes to the deployed values', () => {
  test('says that it compares the form as it was loaded', async () => {
    const { text } = await visitor.get(await deployed({ region: 'eu', size: 2 }));
    expect(differencesOn(text)).toContain('The form as it was loaded changes no variable.');
    expect(differencesOn(text)).toContain(later);
    expect(text).not.toContain('Every variable stays as it is.');
  });

  test('compares what was typed into a refused form, and names what is not valid', async () => {
    const address = await deployed({ region: 'eu', size: 2, extra: [1] });
    const shown = await send(address, { 'v/region': 'us', 'v/size': '2', 'j/extra': '[1,' });
    expect(shown.status).toBe(422);
    expect(differencesOn(shown.text)).toMatch(/extra \[1\] → what you typed is not valid yet/);
    expect(differencesOn(shown.text)).toMatch(/region eu → us/);
    expect(differencesOn(shown.text)).not.toContain('the default');
  });

  test('is not shown if the variables are not valid JSON', async () => {
    const address = await deployed({ region: 'eu', size: 2 });
    const shown = await send(address, { j: '{"region": ' });
    expect(shown.status).toBe(422);
    expect(differencesOn(shown.text)).toContain('not valid JSON, so they cannot be compared yet');
    expect(differencesOn(shown.text)).not.toContain('→');
  });
});

describe('omitted members of a value', () => {
  const nested = {
    type: 'object',
    properties: { public: { type: 'boolean', default: false }, cidr: { type: 'string' } },
  };
  const service = { type: 'object', properties: { replicas: { type: 'integer', default: 1 } } };
  const properties = {
    network: nested,
    services: { type: 'object', additionalProperties: service, default: { web: {} } },
  };

  test('are not a change if their defaults are deployed, in the form of a run and of a schedule', async () => {
    const executor = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };
    const id = await stage.steps.publish({ variables: { type: 'object', properties }, executor });
    const entered = { network: { cidr: '10.0.0.0/8' } };
    const { body } = await stage.ask(entered, { template_id: id, version: '1.0.0', instance: 'nested' });
    await stage.finish(body.id);
    const place = { environment_id: stage.tenant.environment };
    const address = `/catalog/${id}/run?${new URLSearchParams({ ...place, instance: 'nested' })}`;
    const fields = { instance: 'nested', ...place, 'v/network/cidr': '10.0.0.0/8', 'v/network/public': '' };
    const shown = await send(address, fields);
    expect(differencesOn(shown.text)).toContain('The version of nested stays 1.0.0.');
    expect(differencesOn(shown.text)).not.toContain('→');
    const work = { template_id: id, ...place, operation: 'apply', instance: 'nested', variables_from: '' };
    const scheduled = await visitor.submit('/schedules/new', {
      ...{ name: 'Nightly', 'schedule.every': '6h', 'schedule.cron': '', 'schedule.timezone': 'UTC' },
      ...{ variables_of: `${id} 1.0.0`, 'v/network/cidr': '10.0.0.0/8' },
      ...Object.fromEntries(Object.entries(work).map(([name, value]) => [`work.run.${name}`, value])),
    });
    expect(scheduled.text).not.toContain('would reset');
    expect(scheduled.status).toBe(303);
    expect(differencesOn((await send(address, { ...fields, 'v/network/cidr': '10.1.0.0/16' })).text)).toMatch(
      /network \{.*10\.0\.0\.0.* → \{.*10\.1\.0\.0/,
    );
  });
});

describe('a form for a run', () => {
  test('names the source of its values only while it is as it was loaded', async () => {
    const address = await deployed({ region: 'eu', size: 2 });
    expect(wordsOf((await visitor.get(address)).text)).toContain('Filled in from the last successful deployment');
    const sent = wordsOf((await send(address, { 'v/region': 'us', 'v/size': '2' })).text);
    expect(sent).not.toContain('Filled in from the last');
    expect(sent).toContain('This form is compared with the last successful deployment');
  });

  test('names the unfinished runs of its instance, with their status', async () => {
    const address = await deployed({ region: 'eu', size: 3 });
    expect((await visitor.get(address)).text).not.toContain('not finished');
    const id = new URL(address, 'http://host').searchParams.get('from_instance');
    const { name } = (await stage.tenant.owner.get(`/instances/${id}`)).body;
    const place = { template_id: template, version: '1.0.0', instance: name };
    const { body: waiting } = await stage.ask({ region: 'eu', size: 1 }, place);
    await stage.ask({ region: 'eu', size: 2 }, { ...place, operation: 'plan' });
    const catalog = `/catalog/${template}/run?environment_id=${stage.tenant.environment}&instance=${name}`;
    for (const path of [address, catalog]) {
      const { text } = await visitor.get(path);
      expect(wordsOf(text), path).toContain(`A run of ${name} is not finished.`);
      expect(text).toMatch(new RegExp(`href="/workloads/runs/${waiting.id}">[^<]*</a>: apply <span class="status`));
      expect(differencesOn(text)).toContain(`The version of ${name} stays 1.0.0.`);
    }
  });
});

describe('a deployed secret that the version requires', () => {
  test('is optional, and has no alternatives', async () => {
    const variables = {
      type: 'object',
      properties: { token: { type: 'string', writeOnly: true } },
      required: ['token'],
    };
    const id = await stage.steps.publish({
      variables,
      executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] },
    });
    const { body } = await stage.ask(
      { token: 'hidden-token' },
      { template_id: id, version: '1.0.0', instance: 'needs-it' },
    );
    await stage.finish(body.id);
    const { text } = await visitor.get(`/catalog/${id}/run?from_instance=${body.instance_id}`);
    expect(labelOf(text, 'token')).toContain('optional');
    expect(wordsOf(text)).toContain('A deployed secret whose field is empty is kept, whatever else the run changes.');
    expect(wordsOf(text)).not.toContain('Instead of the deployed secret');
  });
});

describe('a deployed secret', () => {
  const secret = { region: 'eu', size: 2, token: 'hidden-token' };

  test('is kept if another value changes', async () => {
    const address = await deployed(secret);
    expect(labelOf((await visitor.get(address)).text, 'token')).toContain('token optional');
    const shown = await send(address, { 'v/region': 'us', 'v/size': '2' });
    expect(differencesOn(shown.text)).toMatch(/region eu → us/);
    expect(differencesOn(shown.text)).not.toContain('token');
    expect(shown.text).toContain('Left empty, the deployed value is kept');
    const sent = await send(address, { 'v/region': 'us', 'v/size': '2', compared: comparedBy(shown.text) });
    expect(sent.status, sent.text).toBe(303);
  });

  test('is kept if another deployed secret is discarded', async () => {
    const address = await deployed({ ...secret, password: 'hidden-password' });
    const shown = await send(address, { 'v/region': 'eu', 'v/size': '2', omit: 'token' });
    expect(differencesOn(shown.text)).toMatch(/token a secret → the default/);
    expect(differencesOn(shown.text)).not.toContain('password');
    const entered = { 'v/region': 'eu', 'v/size': '2', omit: 'token' };
    const sent = await send(address, { ...entered, compared: comparedBy(shown.text) });
    expect(sent.status, sent.text).toBe(303);
  });

  test('is not described as kept if it is discarded', async () => {
    const shown = await send(await deployed(secret), { 'v/region': 'eu', 'v/size': '2', omit: 'token' });
    expect(differencesOn(shown.text)).toMatch(/token a secret → the default/);
    expect(shown.text).not.toContain('the deployed value is kept');
  });

  test('is kept although the environment now has a value for it', async () => {
    const address = await deployed(secret);
    const path = `/environments/${stage.tenant.environment}/variables/token`;
    const given = { category: 'template', value: 'provided-token', sensitive: true };
    const set = await stage.tenant.owner.put(path, given);
    expect([200, 201], set.text).toContain(set.status);
    const fields = { 'v/region': 'us', 'v/size': '2' };
    const shown = await send(address, fields);
    expect(shown.status).toBe(200);
    const sent = await send(address, { ...fields, compared: comparedBy(shown.text) });
    expect(sent.status, sent.text).toBe(303);
  });
});

describe('a deployed secret that another person gave', () => {
  const secret = { region: 'eu', size: 2, token: 'hidden-token' };
  const keptIf = 'Left empty, the deployed value is kept if nothing else changes; otherwise enter it again';
  let other: typeof visitor;
  beforeAll(async () => {
    const developer = await stage.api.addUser('requester');
    await join(stage.tenant, developer, 'member', 'member');
    other = await signInVisitor(stage.api, developer);
  });

  test('is required if another change requires it', async () => {
    const address = await deployed(secret);
    const { text } = await other.get(address);
    expect(labelOf(text, 'token')).toMatch(/token needed if anything else changes/);
    expect(text).toContain(keptIf);
    expect(wordsOf(text)).toContain('A deployed secret that another person gave is kept only if nothing else changes');
    const shown = await send(address, { 'v/region': 'us', 'v/size': '2' }, other);
    expect(shown.status).toBe(422);
    expect(labelOf(shown.text, 'token').trim()).toBe('token');
    expect(shown.text).not.toContain('Left empty, the deployed value is kept');
    expect(wordsOf(shown.text)).toContain('Enter it again: another person gave it, and something else changes');
    const fields = { 'v/region': 'us', 'v/size': '2', 'v/token': 'hidden-token', compared: comparedBy(shown.text) };
    const sent = await send(address, fields, other);
    expect(sent.status, sent.text).toBe(303);
  });

  test('must be entered if another deployed secret is discarded, because that is a change', async () => {
    const address = await deployed({ ...secret, password: 'hidden-password' });
    const shown = await send(address, { 'v/region': 'eu', 'v/size': '2', omit: 'password' }, other);
    expect(shown.status, differencesOn(shown.text)).toBe(422);
    expect(differencesOn(shown.text)).toMatch(/password a secret → the default/);
    expect(differencesOn(shown.text)).toMatch(/token a secret → has to be entered again/);
  });

  test('is kept if nothing else changes', async () => {
    const address = await deployed(secret);
    const fields = { 'v/region': 'eu', 'v/size': '2', compared: comparedBy((await other.get(address)).text) };
    const sent = await send(address, fields, other);
    expect(sent.status, sent.text).toBe(303);
  });

  test('must be entered or discarded although the environment now has a value for it', async () => {
    const address = await deployed(secret);
    const path = `/environments/${stage.tenant.environment}/variables/token`;
    const given = { category: 'template', value: 'provided-token', sensitive: true };
    expect((await stage.tenant.owner.put(path, given)).status).toBeLessThan(300);
    const fields = { 'v/region': 'us', 'v/size': '2' };
    const shown = await send(address, fields, other);
    expect(shown.status).toBe(422);
    expect(wordsOf(shown.text)).toContain('token : use a secret value');
    const instead = await send(address, { ...fields, omit: 'token' }, other);
    expect(differencesOn(instead.text)).toMatch(/token a secret → a secret value/);
    const sent = await send(address, { ...fields, omit: 'token', compared: comparedBy(instead.text) }, other);
    expect(sent.status, sent.text).toBe(303);
  });

  test('can be discarded in the forms of a destroy and of a copy', async () => {
    const address = await deployed(secret);
    const instance = /from_instance=([\w-]+)/.exec(address)?.[1];
    const { deployed_run_id: run } = (await stage.tenant.owner.get(`/instances/${instance}`)).body;
    for (const form of [`${address}&operation=destroy`, `/catalog/${template}/run?from=${run}`]) {
      const { text } = await other.get(form);
      expect(wordsOf(text)).toContain('is kept if nothing else changes; otherwise enter it again');
      expect(text).toMatch(/name="omit" value="token"/);
    }
    const opened = wordsOf((await other.get(`/catalog/${template}/run?from=${run}`)).text);
    expect(opened).toContain('Another person or an output gave the earlier run this secret: token .');
    expect(opened).toContain('If you change anything, enter it again, or choose above to leave it out.');
    const own = wordsOf((await visitor.get(`/catalog/${template}/run?from=${run}`)).text);
    expect(own).not.toContain('gave the earlier run this secret');
    const sent = { 'v/region': 'us', 'v/size': '2' };
    const copy = `/catalog/${template}/run?from=${run}`;
    const seen = await send(copy, sent, other);
    const refused = await send(copy, { ...sent, compared: comparedBy(seen.text) }, other);
    expect(refused.status).toBe(422);
    expect(wordsOf(refused.text)).toContain(
      'Is a secret that another person or an output gave the run, and something else changes: enter it again, or choose to leave it out',
    );
    const shown = await send(copy, { ...sent, omit: 'token' }, other);
    const started = await send(copy, { ...sent, omit: 'token', compared: comparedBy(shown.text) }, other);
    expect(started.status, wordsOf(started.text)).toBe(303);
  });
});
