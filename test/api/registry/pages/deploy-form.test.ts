import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { openReadingStage, plain, type ReadingStage } from '#test/support/references/reading-stage.ts';
import { comparedBy, differencesOn, hintAt, sendForm } from './deploy-form-page.ts';

/** "Deploy" on the page of an instance opens a form with the deployed values. */

let stage: ReadingStage;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
let template: string;
beforeAll(async () => {
  stage = await openReadingStage();
  template = await stage.steps.publish(versionOf(first));
  const admin = await stage.api.addUser('admin');
  await admin.make(`/registry/templates/${template}/versions`, { version: '2.0.0', spec: versionOf(second) });
  visitor = await signInVisitor(stage.api, stage.tenant.owner);
});
afterAll(() => stage?.api.close());

const versionOf = (properties: object) => ({
  variables: { type: 'object', properties, required: ['name'], additionalProperties: false },
  executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }], destroy: [{ name: 'no', run: ['true'] }] },
});
const first = {
  name: { type: 'string' },
  region: { type: 'string', default: 'eu' },
  legacy: { type: 'string' },
  token: { type: 'string', writeOnly: true },
};
const second = {
  name: { type: 'string', description: 'Another one' },
  region: first.region,
  size: { type: 'integer', default: 3 },
  token: first.token,
};

async function deployed(instance: string, variables: object) {
  const { body, status, text } = await stage.ask(variables, { template_id: template, version: '1.0.0', instance });
  expect(status, text).toBe(202);
  await stage.finish(body.id);
  const page = await visitor.get(`/workloads/instances/${body.instance_id}`);
  const address = /href="([^"]*from_instance=[^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  return { address, run: body.id as string };
}

const send = (address: string, version: string, fields: Record<string, string>) =>
  sendForm(visitor, address, { shown: version, version, ...fields });

async function runAt(location: string | undefined) {
  const id = /^\/workloads\/runs\/([0-9a-f-]+)/.exec(location ?? '')?.[1];
  return (await stage.tenant.owner.get(`/runs/${id}`)).body;
}

describe('the form that deploys an instance again', () => {
  test('shows the deployed values but no secret, and marks what the newer version adds, drops and changes', async () => {
    const { address } = await deployed('marked', { name: 'shop', region: 'us', legacy: 'yes', token: 'hidden-token' });
    const { text } = await visitor.get(address);
    expect(text).toContain('Deploy marked');
    expect(text).toMatch(/name="v\/region"[^>]*value="us"|value="us"[^>]*name="v\/region"/);
    expect(text).not.toContain('hidden-token');
    expect(text).toContain('Left empty, the deployed value is kept');
    expect(differencesOn(text)).not.toContain('token');
    expect(differencesOn(text)).toMatch(/from 1\.0\.0 to 2\.0\.0/);
    expect(differencesOn(text)).toMatch(/size New in 2\.0\.0 default 3/);
    expect(differencesOn(text)).toMatch(/legacy Not in 2\.0\.0 its value yes is dropped/);
    expect(differencesOn(text)).toMatch(/name Changed in 2\.0\.0/);
  });

  test('shows at each field the deployed value, and what the form changes', async () => {
    const { address } = await deployed('at-fields', { name: 'shop', legacy: 'yes', token: 'hidden-token' });
    const { text } = await visitor.get(address);
    expect(hintAt(text, 'name')).toMatch(/Changes: Changed in 2\.0\.0 keeps shop/);
    expect(hintAt(text, 'size')).toMatch(/Changes: New in 2\.0\.0 default 3/);
    expect(hintAt(text, 'region')).toMatch(/Deployed: eu/);
    expect(hintAt(text, 'token')).toContain('Left empty, the deployed value is kept');
    const same = await visitor.get(`${address}&version=1.0.0`);
    expect(hintAt(same.text, 'name')).toMatch(/Deployed: shop/);
    const fields = { 'v/name': 'other', 'v/region': 'us', 'v/token': 'typed-token' };
    const shown = await send(address, '2.0.0', { ...fields, compared: comparedBy(text) });
    expect(shown.status).toBe(200);
    expect(hintAt(shown.text, 'name')).toMatch(/Changes: shop → other/);
    expect(hintAt(shown.text, 'region')).toMatch(/Changes: eu → us/);
    expect(hintAt(shown.text, 'token')).toMatch(/Changes: a secret → a secret, entered again/);
    expect(shown.text).not.toContain('hidden-token');
  });

  test('shows what differs before it starts a run, which keeps the other values', async () => {
    const { address } = await deployed('shown-first', { name: 'shop', region: 'us' });
    const fields = { 'v/name': 'other', 'v/region': 'us', 'v/size': '' };
    const before = comparedBy((await visitor.get(address)).text);
    const shown = await send(address, '2.0.0', { ...fields, compared: before });
    expect([shown.status, shown.text.includes('Confirm and run')]).toEqual([200, true]);
    expect(shown.text).not.toContain('notice-problem');
    expect(differencesOn(shown.text)).toMatch(/name shop → other/);
    const sent = await send(address, '2.0.0', { ...fields, compared: comparedBy(shown.text) });
    expect(sent.status, sent.text).toBe(303);
    const run = await runAt(sent.location);
    expect(run).toMatchObject({ template_version: '2.0.0', variables: { name: 'other', region: 'us', size: 3 } });
    expect(run.variables_reset).toEqual([]);
  });

  test('keeps references as they were written', async () => {
    const source = await stage.deploy({ instance: 'origin' }, { zone: plain('a') });
    await stage.allow(source, { environment_ids: [stage.tenant.environment] });
    const reference = '${instances.shared/origin.outputs.zone}';
    const { address } = await deployed('referring', { name: 'shop', region: reference });
    const { text } = await visitor.get(address);
    expect(text).toContain(`value="${reference}"`);
    await stage.deploy({ instance: 'origin' }, { zone: plain('b') });
    const fields = { 'v/name': 'shop', 'v/region': reference, 'v/size': '' };
    const sent = await send(address, '2.0.0', { ...fields, compared: comparedBy(text) });
    expect(sent.status, sent.text).toBe(303);
    expect(await runAt(sent.location)).toMatchObject({ variables: { region: 'b' }, reads: [{ reference }] });
  });
});

const carried = (text: string) => /name="carried" value="([^"]*)"/.exec(text)?.[1] ?? '';

describe('a deployed secret in the form that deploys an instance again', () => {
  const variables = { name: 'shop', region: 'us', token: 'hidden-token' };
  const fields = { 'v/name': 'shop', 'v/region': 'eu', 'v/size': '' };

  test('is kept when another variable and the version change', async () => {
    const { address } = await deployed('asked', variables);
    const before = comparedBy((await visitor.get(address)).text);
    const shown = await send(address, '2.0.0', { ...fields, compared: before });
    expect(differencesOn(shown.text)).toMatch(/region us → eu/);
    expect(differencesOn(shown.text)).not.toContain('token');
    const sent = await send(address, '2.0.0', { ...fields, compared: comparedBy(shown.text) });
    expect(sent.status, sent.text).toBe(303);
    expect(await runAt(sent.location)).toMatchObject({ variables: { region: 'eu', token: { sensitive: true } } });
  });

  test('can be replaced by the default without entering it', async () => {
    const { address } = await deployed('given-up', variables);
    const given = { ...fields, omit: 'token' };
    const shown = await send(address, '2.0.0', { ...given, compared: comparedBy((await visitor.get(address)).text) });
    expect(differencesOn(shown.text)).toMatch(/token a secret → the default/);
    const sent = await send(address, '2.0.0', { ...given, compared: comparedBy(shown.text) });
    expect(sent.status, sent.text).toBe(303);
    expect((await runAt(sent.location)).variables).not.toHaveProperty('token');
  });

  test('is entered once, and kept encrypted until the changes are confirmed', async () => {
    const { address } = await deployed('typed-once', variables);
    const key = randomUUID();
    const before = comparedBy((await visitor.get(address)).text);
    const typed = { ...fields, key, 'v/token': 'brand-new-token', compared: before };
    const shown = await send(address, '2.0.0', typed);
    expect(shown.text).toContain('Confirm and run');
    expect(shown.text).not.toContain('brand-new-token');
    expect(shown.text).toContain('You have entered it');
    expect(differencesOn(shown.text)).toMatch(/token a secret → a secret, entered again/);
    const again = { ...fields, key, 'v/token': '', compared: comparedBy(shown.text), carried: carried(shown.text) };
    const sent = await send(address, '2.0.0', again);
    expect(sent.status, sent.text).toBe(303);
    expect(await runAt(sent.location)).toMatchObject({ variables: { token: { sensitive: true } } });
  });

  test('is kept after the new value was removed again', async () => {
    const { address } = await deployed('taken-back', variables);
    const key = randomUUID();
    const shown = await send(address, '2.0.0', { ...fields, key, 'v/token': 'brand-new-token' });
    expect(shown.text).toContain('value="forget:0@/token"');
    const typed = { ...fields, key, carried: carried(shown.text) };
    const removed = await send(address, '2.0.0', { ...typed, 'v/token': 'typed-since', do: 'forget:0@/token' });
    expect([removed.status, removed.text.includes('You have entered it')]).toEqual([200, false]);
    expect([carried(removed.text), removed.text.includes('forget:0@')]).toEqual(['', false]);
    const sent = await send(address, '2.0.0', { ...fields, key, carried: '', compared: comparedBy(removed.text) });
    expect(sent.status, sent.text).toBe(303);
    expect(await runAt(sent.location)).toMatchObject({ variables: { token: { sensitive: true } } });
  });

  test('is replaced by the default if that is selected after a value was entered', async () => {
    const { address } = await deployed('entered-first', variables);
    const key = randomUUID();
    const shown = await send(address, '2.0.0', { ...fields, key, 'v/token': 'brand-new-token' });
    const again = await send(address, '2.0.0', { ...fields, key, omit: 'token', carried: carried(shown.text) });
    expect(differencesOn(again.text)).toMatch(/token a secret → the default/);
    expect(carried(again.text)).toBe('');
  });

  test('must be entered again if it was encrypted for another form', async () => {
    const { address } = await deployed('other-form', variables);
    const shown = await send(address, '2.0.0', { ...fields, 'v/token': 'brand-new-token' });
    const other = { ...fields, compared: comparedBy(shown.text), carried: carried(shown.text) };
    const sent = await send(address, '2.0.0', other);
    expect([sent.status, sent.text.includes('Enter them again')]).toEqual([409, true]);
  });
});

describe('the form of the catalog for an instance that is deployed', () => {
  const at = () => `/catalog/${template}/run`;
  const fields = (instance: string) => ({ instance, environment_id: stage.tenant.environment, 'v/name': 'shop' });

  test('says so, and starts no run before the visitor has seen what it resets', async () => {
    await deployed('taken', { name: 'shop', region: 'us', token: 'hidden-token' });
    const shown = await send(at(), '2.0.0', fields('taken'));
    expect([shown.status, shown.text.includes('Confirm and run')]).toEqual([200, true]);
    expect(shown.text).toContain('is deployed there already');
    expect(shown.text).toMatch(/href="[^"]*from_instance=[^"]*">Start from what is deployed/);
    expect(differencesOn(shown.text)).toMatch(/region us → the default/);
    expect(differencesOn(shown.text)).toMatch(/token a secret → the default/);
    const sent = await send(at(), '2.0.0', { ...fields('taken'), compared: comparedBy(shown.text) });
    expect(sent.status, sent.text).toBe(303);
  });

  test('asks for confirmation again for another instance than the one whose changes were shown', async () => {
    await deployed('first-name', { name: 'shop', region: 'us' });
    await deployed('second-name', { name: 'other', region: 'ap' });
    const shown = await send(at(), '2.0.0', fields('first-name'));
    const sent = await send(at(), '2.0.0', { ...fields('second-name'), compared: comparedBy(shown.text) });
    expect([sent.status, sent.text.includes('Confirm and run')]).toEqual([200, true]);
  });

  test('asks for confirmation again for another instance even if its changes are the same', async () => {
    await deployed('same-as-this', { name: 'shop', region: 'us' });
    await deployed('same-as-that', { name: 'shop', region: 'us' });
    const shown = await send(at(), '2.0.0', fields('same-as-this'));
    const sent = await send(at(), '2.0.0', { ...fields('same-as-that'), compared: comparedBy(shown.text) });
    expect([sent.status, sent.text.includes('Confirm and run')]).toEqual([200, true]);
    const confirmed = await send(at(), '2.0.0', { ...fields('same-as-that'), compared: comparedBy(sent.text) });
    expect(confirmed.status, confirmed.text).toBe(303);
  });

  test('starts at once if no instance of that name is deployed', async () => {
    const sent = await send(at(), '2.0.0', fields('fresh'));
    expect(sent.status, sent.text).toBe(303);
  });
});

test('the form for an instance with imported resources says so, and starts no run before that was confirmed', async () => {
  const { address, run } = await deployed('imported', { name: 'shop' });
  const { body } = await stage.tenant.owner.get(`/runs/${run}`);
  await stage.api.rows('update instances set deployed_run_id = null, resource_count = 8 where id = ?', [
    body.instance_id,
  ]);
  const { text } = await visitor.get(address);
  expect(text).toMatch(/imported<\/a> exists there already and holds 8 resources/);
  const copy = (await visitor.get(`/catalog/${template}/run?from=${run}`)).text;
  expect(copy).toMatch(/imported<\/a> exists there already and holds 8 resources/);
  expect(copy).not.toContain('shows the defaults of the template');
  const fields = { 'v/name': 'shop', instance: 'imported', environment_id: body.environment_id };
  const asked = await send(address, '2.0.0', fields);
  expect([asked.status, asked.text.includes('Confirm and run')]).toEqual([200, true]);
  const sent = await send(address, '2.0.0', { ...fields, compared: comparedBy(asked.text) });
  expect(sent.status, sent.text).toBe(303);
});

test('the form of an earlier run asks for confirmation before it replaces a later deployment', async () => {
  const { run } = await deployed('repeated', { name: 'shop', region: 'us' });
  const address = `/catalog/${template}/run?from=${run}`;
  await deployed('repeated', { name: 'shop', region: 'ap' });
  const fields = { instance: 'repeated', 'v/name': 'shop', 'v/region': 'us' };
  const shown = await send(address, '1.0.0', fields);
  expect(shown.text).toContain('Confirm and run');
  expect(differencesOn(shown.text)).toMatch(/region ap → us/);
  const sent = await send(address, '1.0.0', { ...fields, compared: comparedBy(shown.text) });
  expect(sent.status, sent.text).toBe(303);
});

describe('a destroy', () => {
  test('starts from the form of a run only once the name of the instance is entered', async () => {
    const { address } = await deployed('doomed', { name: 'shop', region: 'us' });
    const fields = { operation: 'destroy', version: '', 'v/name': 'shop', 'v/region': 'us', 'v/size': '' };
    const shown = await send(address, '2.0.0', fields);
    expect([shown.status, shown.text.includes('Type doomed to confirm')]).toEqual([200, true]);
    expect(shown.text).toMatch(/The run destroys everything that .*doomed.* holds, with version 1\.0\.0\./);
    const wrong = await send(address, '2.0.0', { ...fields, confirmation: 'other' });
    expect([wrong.status, wrong.text.includes('Is another name: type doomed exactly.')]).toEqual([422, true]);
    const sent = await send(address, '2.0.0', { ...fields, confirmation: 'doomed' });
    expect(sent.status, sent.text).toBe(303);
    expect(await runAt(sent.location)).toMatchObject({ operation: 'destroy', template_version: '1.0.0' });
  });

  test('starts from the form of the catalog without variables, because empty ones have the deployed values', async () => {
    const settings = { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] };
    const properties = { name: { type: 'string' }, settings, tags: { type: 'array', items: { type: 'string' } } };
    const variables = { type: 'object', properties, required: ['name', 'settings', 'tags'] };
    const id = await stage.steps.publish({ ...versionOf({}), variables });
    const values = { name: 'shop', settings: { zone: 'a' }, tags: ['x'] };
    const { body } = await stage.ask(values, { template_id: id, version: '1.0.0', instance: 'left-empty' });
    await stage.finish(body.id);
    const address = `/catalog/${id}/run?environment_id=${body.environment_id}&instance=left-empty&operation=destroy`;
    const { text } = await visitor.get(address);
    for (const name of ['name', 'settings', 'tags', 'zone'])
      expect(text).toMatch(new RegExp(`<span class="foreign">${name}</span> <span class="muted">optional`));
    const place = {
      environment_id: body.environment_id,
      instance: 'left-empty',
      confirmation: 'left-empty',
      version: '',
    };
    const empty = { 'v/name': '', 'v/settings/zone': '' };
    const sent = await send(address, '1.0.0', { ...place, ...empty, operation: 'destroy', version: '' });
    expect(sent.status, sent.text).toBe(303);
    expect((await runAt(sent.location)).variables).toEqual(values);
  });

  test('says which version runs, and asks for another one if the deployed version has no destroy steps', async () => {
    const { destroy: _, ...executor } = versionOf({}).executor;
    const id = await stage.steps.publish({ ...versionOf(first), executor });
    const { body } = await stage.ask({ name: 'shop' }, { template_id: id, version: '1.0.0', instance: 'stuck' });
    await stage.finish(body.id);
    const path = `/workloads/instances/${body.instance_id}/destroy`;
    const alone = await visitor.page(path);
    expect(alone).toMatch(/Version 1\.0\.0 of the template has no destroy steps/);
    expect(alone).not.toContain('name="confirmation"');
    const admin = await stage.api.addUser('admin');
    await admin.make(`/registry/templates/${id}/versions`, { version: '2.0.0', spec: versionOf(first) });
    const address = `/catalog/${id}/run?from_instance=${body.instance_id}&operation=destroy`;
    const { text } = await visitor.get(address);
    expect(text).toContain('As deployed (1.0.0)');
    expect(text).toContain('<h1>Destroy stuck</h1>');
    expect(text).not.toContain('Latest (2.0.0)');
    expect(text).toContain(
      'Version 1.0.0, which is deployed, has no destroy steps. Choose a version with destroy steps.',
    );
    const asked = await send(address, '2.0.0', { operation: 'destroy', version: '', 'v/name': 'shop' });
    expect([asked.status, asked.text.includes('Type stuck to confirm, then')]).toEqual([422, false]);
    const chosen = await visitor.page(`${address}&version=2.0.0`);
    expect(chosen).not.toContain('which is deployed, has no destroy steps');
    const request = { operation: 'destroy', template_id: id, environment_id: body.environment_id, instance: 'stuck' };
    const refused = await stage.tenant.owner.post('/runs', request);
    expect(refused.text).toMatch(/version 1\.0\.0 .*no destroy steps: choose a version with destroy steps/);
    const page = await visitor.page(path);
    expect(page).toMatch(/1\.0\.0<\/strong> has no destroy steps[\s\S]*<option value="2\.0\.0"/);
    const sent = await visitor.submit(path, { version: '2.0.0', confirmation: 'stuck', message: '' });
    expect(sent.status, sent.text).toBe(303);
    expect(await runAt(sent.location)).toMatchObject({ operation: 'destroy', template_version: '2.0.0' });
  });

  test('has its own page, which lists the resources and runs the deployed version', async () => {
    const { address } = await deployed('removed', { name: 'shop', region: 'us', token: 'hidden-token' });
    const id = new URL(address, 'http://host').searchParams.get('from_instance');
    const path = `/workloads/instances/${id}/destroy`;
    expect((await visitor.get(`/workloads/instances/${id}`)).text).toContain(`href="${path}"`);
    await stage.api.rows('update instances set resource_count = 3 where id = ? returning id', [id]);
    const { text } = await visitor.get(path);
    expect(text).toMatch(/<strong>3 resources<\/strong>/);
    expect(text).toMatch(/version <strong>1\.0\.0<\/strong>/);
    const wrong = await visitor.submit(path, { confirmation: 'all', message: '' });
    expect([wrong.status, wrong.text.includes('Is another name: type removed exactly.')]).toEqual([400, true]);
    const sent = await visitor.submit(path, { confirmation: 'removed', message: 'Done with it' });
    expect(sent.status, sent.text).toBe(303);
    const destroyed = { operation: 'destroy', template_version: '1.0.0', message: 'Done with it' };
    expect(await runAt(sent.location)).toMatchObject({ ...destroyed, instance: 'removed' });
    await stage.finish((await runAt(sent.location)).id);
    expect(await visitor.page(`/workloads/instances/${id}`)).not.toContain(`href="${path}"`);
  });
});

test('the form that repeats an apply says if a newer run has deployed since', async () => {
  const older = await deployed('applied-twice', { name: 'shop' });
  const newer = await deployed('applied-twice', { name: 'other' });
  const words = (id: string) => visitor.page(`/workloads/runs/${id}/requeue`);
  expect(await words(older.run)).toMatch(
    new RegExp(`A newer run has deployed .*applied-twice[\\s\\S]*/runs/${newer.run}"`),
  );
  expect(await words(newer.run)).not.toContain('A newer run');
});

test('the form of the catalog says that a required variable without a default is missing', async () => {
  await deployed('lacking', { name: 'shop', region: 'us' });
  const place = `environment_id=${stage.tenant.environment}&instance=lacking&version=1.0.0`;
  const { text } = await visitor.get(`/catalog/${template}/run?${place}`);
  expect(differencesOn(text)).toMatch(/name shop → missing/);
  expect(differencesOn(text)).toMatch(/region us → the default eu/);
});

test('the page of a run says which deployed variables it resets', async () => {
  await deployed('reset', { name: 'shop', region: 'us', token: 'hidden-token' });
  const { body } = await stage.ask({ name: 'shop' }, { template_id: template, version: '1.0.0', instance: 'reset' });
  const { text } = await visitor.get(`/workloads/runs/${body.id}`);
  expect(text).toContain('This run resets 2 variables that are deployed.');
  expect(text).toContain('To keep a value, enter it in a new run.');
  expect(text).not.toContain('hidden-token');
});

test('the page of a run has no advice on a reset value whose variable the version does not have', async () => {
  await deployed('undeclared', { name: 'shop', legacy: 'yes' });
  const place = { template_id: template, version: '2.0.0', instance: 'undeclared' };
  const { body } = await stage.ask({ name: 'shop' }, place);
  const { text } = await visitor.get(`/workloads/runs/${body.id}`);
  expect(text).toContain('This run resets a variable that is deployed.');
  expect(text).not.toContain('To keep a value');
});
