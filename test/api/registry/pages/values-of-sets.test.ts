import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wordsOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { openReadingStage, type ReadingStage } from '#test/support/references/reading-stage.ts';
import { comparedBy, differencesOn, hintAt, labelOf, sendForm } from './deploy-form-page.ts';

/** The forms that start runs show the values of variable sets as the admission of the run uses them. */

let stage: ReadingStage;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
let template: string;
let sets = 0;
beforeAll(async () => {
  stage = await openReadingStage();
  template = await stage.steps.publish(spec);
  visitor = await signInVisitor(stage.api, stage.tenant.owner);
});
afterAll(() => stage?.api.close());

const text = { type: 'string' };
const step = [{ name: 'go', run: ['true'] }];
const properties = {
  colour: { ...text, default: 'blue' },
  size: { type: 'integer', default: 1 },
  extra: text,
  admin_password: { ...text, writeOnly: true },
};
const spec = {
  variables: { type: 'object', properties, required: ['admin_password'] },
  executor: { kind: 'command', apply: step, destroy: step },
};
const password = { name: 'admin_password', value: 'password-of-the-set', category: 'template', sensitive: true };
const given = (name: string, value: unknown) => ({ name, value, category: 'template', sensitive: false });

async function environment(): Promise<string> {
  const place = { project_id: stage.tenant.project, name: `Place ${randomUUID().slice(0, 8)}`, kind: 'development' };
  return (await stage.tenant.owner.make('/environments', place)).id;
}

/** Creates a set and attaches it; its owner is the team by default. */
async function give(place: string, variables: object[], owner: object = { team_id: stage.tenant.team }) {
  const name = `common-${++sets}`;
  const { id } = await stage.tenant.owner.make('/variable-sets', { name, ...owner });
  const put = await stage.tenant.owner.put(`/variable-sets/${id}/variables`, { variables });
  expect(put.status, put.text).toBe(200);
  const places = { project_ids: [], environment_ids: [place] };
  const attached = await stage.tenant.owner.put(`/variable-sets/${id}/attachments`, places);
  expect(attached.status, attached.text).toBe(200);
  return { id: id as string, name };
}

async function deployed(place: string, variables: object): Promise<string> {
  const body = { template_id: template, environment_id: place, instance: 'web', version: '1.0.0' };
  const { body: run, status, text: problem } = await stage.ask(variables, body);
  expect(status, problem).toBe(202);
  await stage.finish(run.id);
  return run.instance_id;
}

const secret = { admin_password: 'the-deployed-password' };

const send = (address: string, fields: Record<string, string>) =>
  sendForm(visitor, address, { version: '', ...fields });
const catalog = (place: string) => `/catalog/${template}/run?environment_id=${place}&instance=web`;

describe('the form of the catalog', () => {
  test('names the variable set of a variable, requires no secret that a set has, and starts such a run', async () => {
    const place = await environment();
    const { name } = await give(place, [given('colour', 'purple'), given('size', '3'), password]);
    const { text: page } = await visitor.get(catalog(place));
    expect(hintAt(page, 'colour')).toContain(`The set ${name} gives purple`);
    expect(hintAt(page, 'size')).toContain(`The set ${name} gives 3`);
    expect(labelOf(page, 'admin_password')).toContain('optional');
    expect(hintAt(page, 'admin_password')).toContain(`The set ${name} gives a secret value`);
    expect(page).not.toContain('password-of-the-set');
    const sent = await send(catalog(place), { environment_id: place, instance: 'web' });
    expect(sent.status, sent.text).toBe(303);
  });

  test('lists that a variable set changes deployed values, even if the deployment had none', async () => {
    const place = await environment();
    await deployed(place, secret);
    const { name } = await give(place, [given('colour', 'purple'), given('extra', 'more'), password]);
    const { text: page } = await visitor.get(catalog(place));
    expect(differencesOn(page)).toContain(`colour blue → purple (the set ${name} gives it)`);
    expect(differencesOn(page)).toContain(`extra not set → more (the set ${name} gives it)`);
    expect(differencesOn(page)).toContain(`admin_password a secret → a secret value (the set ${name} gives it)`);
    expect(differencesOn(page)).not.toContain('size');
  });

  test('does not list a variable whose deployed value is that of a variable set or the environment', async () => {
    const place = await environment();
    await give(place, [given('colour', 'purple'), given('size', '1'), password]);
    const own = { category: 'template', value: 'more', sensitive: false };
    await stage.tenant.owner.put(`/environments/${place}/variables/extra`, own);
    await deployed(place, {});
    const { text: page } = await visitor.get(catalog(place));
    expect(differencesOn(page)).toContain('The form as it was loaded changes no variable.');
    expect(differencesOn(page)).not.toContain('→');
  });

  test("uses the environment's value rather than that of a set, and that of a nearer set rather than that of a farther one", async () => {
    const place = await environment();
    await give(place, [given('colour', 'far'), given('size', 7)], { organization_id: stage.tenant.organization });
    const near = await give(place, [given('colour', 'near'), given('size', 8)]);
    const own = { category: 'template', value: 9, sensitive: false };
    await stage.tenant.owner.put(`/environments/${place}/variables/size`, own);
    const { text: page } = await visitor.get(catalog(place));
    expect(hintAt(page, 'colour')).toContain(`The set ${near.name} gives near`);
    expect(hintAt(page, 'size')).toMatch(/Place \S+ sets 9/);
  });

  test('does not name a variable set that the visitor may not read, and shows none of its values', async () => {
    const place = await environment();
    const { name } = await give(place, [given('colour', 'purple')], { organization_id: stage.tenant.organization });
    await deployed(place, secret);
    const outsider = await stage.api.addUser('requester');
    await stage.api.rows(
      `insert into team_members (id, team_id, principal_id, role, created_at) values (gen_random_uuid(), ?, ?, 'member', now()) returning id`,
      [stage.tenant.team, outsider.id],
    );
    const { text: page } = await (await signInVisitor(stage.api, outsider)).get(catalog(place));
    expect(hintAt(page, 'colour')).toContain('A variable set gives a value');
    expect(page).not.toContain(name);
  });
});

describe('the form that deploys an instance again', () => {
  test('says at an emptied field which value of a variable set replaces it, unless that is the deployed one', async () => {
    const place = await environment();
    const { name } = await give(place, [given('colour', 'purple'), password]);
    const id = await deployed(place, { colour: 'red', ...secret });
    const address = `/catalog/${template}/run?from_instance=${id}`;
    const changed = await send(address, { 'v/colour': '', 'v/size': '1', 'v/admin_password': '' });
    expect(changed.status, differencesOn(changed.text)).toBe(200);
    expect(differencesOn(changed.text)).toContain(`colour red → purple (the set ${name} gives it)`);
    const other = await environment();
    await give(other, [given('colour', 'purple'), password]);
    const kept = `/catalog/${template}/run?from_instance=${await deployed(other, {})}`;
    const fields = { 'v/colour': '', 'v/size': '1', 'v/admin_password': '' };
    const sent = await send(kept, { ...fields, compared: comparedBy((await visitor.get(kept)).text) });
    expect(sent.status, differencesOn(sent.text)).toBe(303);
  });

  test('lists the value of a variable set for a variable without a deployed value', async () => {
    const place = await environment();
    const id = await deployed(place, { colour: 'red', ...secret });
    const { name } = await give(place, [given('extra', 'more'), password]);
    const { text: page } = await visitor.get(`/catalog/${template}/run?from_instance=${id}`);
    expect(differencesOn(page)).toContain(`extra not set → more (the set ${name} gives it)`);
  });
});

describe('the form of a schedule', () => {
  const fields = (place: string) => ({
    ...{ name: `Nightly ${randomUUID()}`, 'schedule.cron': '', 'schedule.timezone': 'UTC', 'schedule.every': '6h' },
    ...{ variables_of: `${template} 1.0.0`, 'v/colour': '', 'v/size': '', 'v/extra': '', 'v/admin_password': '' },
    ...{ 'work.run.template_id': template, 'work.run.environment_id': place, 'work.run.operation': 'apply' },
    ...{ 'work.run.instance': 'web', 'work.run.version': '', 'work.run.message': '', 'work.run.variables_from': '' },
  });

  test('names the values of a variable set, and does not say that a start resets them if they are deployed', async () => {
    const place = await environment();
    const { name } = await give(place, [given('colour', 'purple'), password]);
    await deployed(place, {});
    const at = `/schedules/new?template_id=${template}&environment_id=${place}`;
    expect(hintAt((await visitor.get(at)).text, 'colour')).toContain(`The set ${name} gives purple`);
    const saved = await visitor.submit('/schedules/new', fields(place));
    expect(saved.location, saved.text).toContain('done=created');
  });

  test('says that a start resets a deployed value if the variable set has another one', async () => {
    const place = await environment();
    await deployed(place, secret);
    await give(place, [given('colour', 'purple'), password]);
    const refused = await visitor.submit('/schedules/new', fields(place));
    expect(refused.text).toContain('each start would reset colour');
  });
});

test('the page of a run names the variable set whose value replaces a deployed one', async () => {
  const place = await environment();
  await deployed(place, { extra: 'less', ...secret });
  const { id, name } = await give(place, [given('colour', 'purple')]);
  const own = { category: 'template', value: 'more', sensitive: false };
  await stage.tenant.owner.put(`/environments/${place}/variables/extra`, own);
  const body = { template_id: template, environment_id: place, instance: 'web', version: '1.0.0' };
  const { body: run } = await stage.ask(secret, body);
  const { text: page } = await visitor.get(`/workloads/runs/${run.id}`);
  expect(wordsOf(page)).toContain(`"blue" → "purple" (from the set ${name} )`);
  expect(page).toContain(`href="/variable-sets/${id}"`);
  expect(wordsOf(page)).toContain('"less" → "more" (set by the environment)');
});

test("the form of an assembly names no variable set for the assembly's own variables", async () => {
  const place = await environment();
  await give(place, [given('name', 'of-the-set')]);
  const { slug } = (await stage.tenant.owner.get(`/registry/templates/${template}`)).body;
  const { id } = await stage.tenant.owner.make('/assemblies', { team_id: stage.tenant.team, name: 'Given' });
  const nodes = { web: { template: slug, variables: { colour: '${variables.name}' } } };
  const variables = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  const draft = await stage.tenant.owner.put(`/assemblies/${id}/draft`, { spec: { variables, nodes } });
  expect(draft.status, draft.text).toBeLessThan(300);
  const published = await stage.tenant.owner.post(`/assemblies/${id}/publish`, { version: '1.0.0' });
  expect(published.status, published.text).toBeLessThan(300);
  const { text: page } = await visitor.get(`/assemblies/${id}/run?environment_id=${place}`);
  expect(labelOf(page, 'name')).not.toContain('optional');
  expect(page).not.toContain('of-the-set');
});
