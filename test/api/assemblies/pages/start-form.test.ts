import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idOf } from '#api/web/forms/schema/slots.ts';
import { addAssembly, addRun, openPageStage, type PageStage, threeNodes } from '#test/support/assemblies/page-stage.ts';
import { wordsOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { type RunProgress, setProgress } from '#test/support/pages/assemblies/progress.ts';

/** The form for an assembly run compares with what the assembly has deployed in the environment. */

let stage: PageStage;
let owner: Visitor;
beforeAll(async () => {
  stage = await openPageStage();
  owner = await signInVisitor(stage.api, stage.tenant.owner);
});
afterAll(() => stage?.api.close());

const succeeded: RunProgress = { status: 'succeeded', minutesAgo: 30, nodes: () => ({ status: 'succeeded' }) };
const failed: RunProgress = { status: 'failed', minutesAgo: 20, nodes: () => ({ status: 'failed' }) };

function specWith(properties: object) {
  const spec = threeNodes(stage.template);
  return { ...spec, variables: { ...spec.variables, properties: { ...spec.variables.properties, ...properties } } };
}

const add = (name: string) => addAssembly(stage, specWith({ region: { type: 'string', default: 'eu' } }), { name });
const deploy = (assembly: string, variables: object, more: object = {}) =>
  addRun(stage, assembly, succeeded, { variables, ...more });

function send(address: string, fields: Record<string, string>) {
  const basic = { version: '', shown: '1.0.0', operation: 'apply', message: '', do: '', key: randomUUID() };
  return owner.submit(address, { ...basic, environment_id: stage.tenant.environment, ...fields });
}

const compared = (text: string) => /name="compared" value="([^"]*)"/.exec(text)?.[1] ?? '';
const differences = (text: string) => wordsOf(/id="differences".*?<\/section>/s.exec(text)?.[0]);
const hintAt = (text: string, name: string) =>
  wordsOf(new RegExp(`class="field-hint" id="${idOf(`v/${name}`)}-hint">.*?</div>`, 's').exec(text)?.[0]);

async function variablesAt(location: string | undefined) {
  const [, assembly, run] = /^\/assemblies\/([^/]+)\/runs\/([0-9a-f-]+)/.exec(location ?? '') ?? [];
  return (await stage.tenant.owner.get(`/assemblies/${assembly}/runs/${run}`)).body.variables;
}

describe('the form that runs an assembly again', () => {
  test('begins with the values of the last run but no secret, and marks what it changes', async () => {
    const shop = await add('Again');
    const run = await deploy(shop, { name: 'shop', region: 'us', token: 'hidden-token' });
    const { text } = await owner.get(`/assemblies/${shop}/run?from=${run}`);
    expect(text).toContain('Filled in from the last deployment');
    expect(text).not.toContain('hidden-token');
    expect(hintAt(text, 'name')).toMatch(/Deployed: shop/);
    expect(hintAt(text, 'region')).toMatch(/Deployed: us/);
    expect(differences(text)).toMatch(/token a secret → the default(?!, or)/);
  });

  test('shows what differs before it starts a run', async () => {
    const shop = await add('Shown first');
    const run = await deploy(shop, { name: 'shop', region: 'us' });
    const address = `/assemblies/${shop}/run?from=${run}`;
    const fields = { 'v/name': 'other', 'v/region': '', compared: compared((await owner.get(address)).text) };
    const shown = await send(address, fields);
    expect([shown.status, shown.text.includes('Confirm and run')]).toEqual([200, true]);
    expect(differences(shown.text)).toMatch(/name shop → other region us → the default/);
    const sent = await send(address, { ...fields, compared: compared(shown.text) });
    expect(sent.status, sent.text).toBe(303);
    expect(await variablesAt(sent.location)).toEqual({ name: 'other', region: 'eu' });
  });

  test('starts at once if it changes nothing that it has not shown', async () => {
    const shop = await add('Unchanged');
    const address = `/assemblies/${shop}/run?from=${await deploy(shop, { name: 'shop', region: 'us' })}`;
    const loaded = compared((await owner.get(address)).text);
    const sent = await send(address, { 'v/name': 'shop', 'v/region': 'us', compared: loaded });
    expect(sent.status, sent.text).toBe(303);
  });

  test('asks for a secret that the version requires instead of calling it invalid', async () => {
    const secret = { type: 'string', writeOnly: true };
    const spec = specWith({ password: secret });
    const required = { ...spec, variables: { ...spec.variables, required: ['name', 'password'] } };
    const shop = await addAssembly(stage, required, { name: 'Asked' });
    const run = await deploy(shop, { name: 'shop', password: 'hidden-password' });
    const { text } = await owner.get(`/assemblies/${shop}/run?from=${run}`);
    expect(differences(text)).toMatch(/password a secret → has to be entered again/);
  });

  test('compares an earlier run with the later run that replaced it', async () => {
    const shop = await add('Replaced');
    const earlier = await deploy(shop, { name: 'shop', region: 'us' });
    const later = await deploy(shop, { name: 'shop', region: 'ap' });
    const { text } = await owner.get(`/assemblies/${shop}/run?from=${earlier}`);
    expect(differences(text)).toMatch(/region ap → us/);
    expect(text).toMatch(new RegExp(`href="[^"]*from=${later}">Start from what is deployed`));
  });

  test('marks what a newer version adds, and links to a comparison of the versions', async () => {
    const shop = await add('Newer');
    const run = await deploy(shop, { name: 'shop' });
    const spec = specWith({ size: { type: 'integer', default: 3 } });
    expect((await stage.tenant.owner.put(`/assemblies/${shop}/draft`, { spec })).status).toBe(200);
    expect((await stage.tenant.owner.post(`/assemblies/${shop}/publish`, { version: '2.0.0' })).status).toBe(201);
    const { text } = await owner.get(`/assemblies/${shop}/run?from=${run}&version=2.0.0`);
    expect(differences(text)).toMatch(/from 1\.0\.0 to 2\.0\.0/);
    expect(differences(text)).toMatch(/size New in 2\.0\.0 default 3/);
    expect(differences(text)).toMatch(/region Not in 2\.0\.0 its value eu is dropped/);
    expect(text).toContain(`/assemblies/${shop}?tab=compare&amp;from=1.0.0&amp;to=2.0.0`);
  });
});

describe('the form that runs an assembly without an earlier run', () => {
  test('says that the assembly is already deployed there, and starts no run before it has shown what changes', async () => {
    const shop = await add('Taken');
    const run = await deploy(shop, { name: 'shop', region: 'us', token: 'hidden-token' }, { only: ['network'] });
    const address = `/assemblies/${shop}/run`;
    const shown = await send(address, { 'v/name': 'shop' });
    expect([shown.status, shown.text.includes('Confirm and run')]).toEqual([200, true]);
    expect(wordsOf(shown.text)).toMatch(/is deployed there already: version 1\.0\.0, .* of only some of its nodes/);
    expect(shown.text).toMatch(new RegExp(`href="[^"]*from=${run}">Start from what is deployed`));
    expect(differences(shown.text)).toMatch(/region us → the default eu token a secret → the default/);
    const sent = await send(address, { 'v/name': 'shop', compared: compared(shown.text) });
    expect(sent.status, sent.text).toBe(303);
  });

  test('starts at once if nothing is deployed, because no node succeeded or all were destroyed', async () => {
    const shop = await add('Fresh');
    await addRun(stage, shop, failed);
    const sent = await send(`/assemblies/${shop}/run`, { 'v/name': 'shop' });
    expect(sent.status, sent.text).toBe(303);
    const gone = await add('Gone');
    await deploy(gone, { name: 'shop' });
    const destroy = await deploy(gone, { name: 'shop' });
    await stage.api.rows(`update assembly_runs set operation = 'destroy' where id = ? returning id`, [destroy]);
    const again = await send(`/assemblies/${gone}/run`, { 'v/name': 'other' });
    expect(again.status, again.text).toBe(303);
  });

  test('compares with the environment that is selected in it, and not with that of the earlier run', async () => {
    const shop = await add('Elsewhere');
    const run = await deploy(shop, { name: 'shop' });
    const { id } = await stage.tenant.owner.make('/environments', {
      project_id: stage.tenant.project,
      name: 'Elsewhere',
      kind: 'development',
      approval_policy: { required: 0, when: 'never', allow_self: true },
    });
    const sent = await send(`/assemblies/${shop}/run?from=${run}`, { environment_id: id, 'v/name': 'other' });
    expect(sent.status, sent.text).toBe(303);
  });
});

describe('the form that runs an assembly whose instance was deployed by something else', () => {
  const instance = 'shared-by-name';
  let shop: string;
  beforeAll(async () => {
    const spec = threeNodes(stage.template);
    const nodes = { ...spec.nodes, network: { ...spec.nodes.network, instance } };
    shop = await addAssembly(stage, { ...spec, nodes }, { name: 'Takes over' });
    const { tenant, api, template } = stage;
    const [{ id = '' } = {}] = await api.rows<{ id: string }>('select id from templates where slug = ?', [template]);
    const where = { template_id: id, environment_id: tenant.environment, instance };
    const run = await tenant.owner.post('/runs', { ...where, variables: { name: 'of somebody' } });
    expect(run.status, run.text).toBe(202);
    await api.rows(
      'update instances set deployed_run_id = r.id, resource_count = 1 from runs r where r.instance_id = instances.id and r.id = ?',
      [run.body.id],
    );
  });
  const taken = (text: string) => /name="taken" value="([^"]*)"/.exec(text)?.[1] ?? '';

  test('names the instance and starts no run before the visitor confirmed it', async () => {
    const address = `/assemblies/${shop}/run`;
    const shown = await send(address, { 'v/name': 'shop' });
    expect([shown.status, shown.text.includes('Confirm and run')]).toEqual([200, true]);
    expect(wordsOf(shown.text)).toContain(
      'this assembly did not deploy them. The run takes them over and changes them',
    );
    expect(wordsOf(shown.text)).toMatch(/shared-by-name \(node network \)/);
    const sent = await send(address, { 'v/name': 'shop', taken: taken(shown.text) });
    expect(sent.status, sent.text).toBe(303);
  });

  test('names the instances that a destroy removes', async () => {
    const { environment } = stage.tenant;
    const { text } = await owner.get(`/assemblies/${shop}/run?operation=destroy&environment_id=${environment}`);
    expect(wordsOf(text)).toMatch(/This run destroys what these instances hold: shared-by-name/);
  });
});

test('the form that destroys an assembly asks only for its name as confirmation', async () => {
  const shop = await add('Doomed');
  const run = await deploy(shop, { name: 'shop' });
  await setProgress(stage.api, run, succeeded);
  const { text } = await owner.get(`/assemblies/${shop}/run?from=${run}&operation=destroy`);
  expect(differences(text)).toBe('');
  expect(text).not.toContain('is deployed there already');
  expect(text).toContain('Type Doomed to confirm');
});
