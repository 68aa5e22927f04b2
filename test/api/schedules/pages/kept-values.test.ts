import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join } from '#test/support/access/tenancy.ts';
import { wordsOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { openReadingStage, type ReadingStage } from '#test/support/references/reading-stage.ts';

/** The form of a schedule explains empty variables if an instance is deployed. */

let stage: ReadingStage;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
let template: string;
beforeAll(async () => {
  stage = await openReadingStage();
  visitor = await signInVisitor(stage.api, stage.tenant.owner);
  template = await stage.steps.publish({
    variables: { type: 'object', properties, required: ['shop', 'zones', 'api_key'] },
    executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] },
  });
  const { owner, team, environment } = stage.tenant;
  const { body, text } = await stage.ask(
    { shop: 'main', zones: ['a'], colour: 'blue', api_key: 'typed-by-hand' },
    { template_id: template, instance: 'shop' },
  );
  expect(body.id, text).toBeDefined();
  await stage.finish(body.id);
  const { id } = await owner.make('/variable-sets', { name: 'shop-common', team_id: team });
  const variables = [
    { name: 'colour', value: 'green', category: 'template', sensitive: false },
    { name: 'api_key', value: 'of-the-set', category: 'template', sensitive: true },
  ];
  expect((await owner.put(`/variable-sets/${id}/variables`, { variables })).status).toBe(200);
  attach = async (isAttached) => {
    const places = { project_ids: [], environment_ids: isAttached ? [environment] : [] };
    expect((await owner.put(`/variable-sets/${id}/attachments`, places)).status).toBe(200);
  };
  await attach(true);
});
afterAll(() => stage?.api.close());

let attach: (isAttached: boolean) => Promise<void>;
const properties = {
  shop: { type: 'string' },
  zones: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, uniqueItems: true },
  colour: { type: 'string' },
  api_key: { type: 'string', writeOnly: true },
};
const fields = (from: string) => ({
  ...{ name: 'Nightly', 'schedule.cron': '', 'schedule.timezone': 'UTC', 'schedule.every': '6h' },
  ...{ variables_of: `${template} 1.0.0`, 'v/shop': '', 'v/colour': '', 'v/api_key': '' },
  'work.run.template_id': template,
  'work.run.environment_id': stage.tenant.environment,
  'work.run.operation': 'apply',
  'work.run.instance': 'shop',
  'work.run.version': '',
  'work.run.message': '',
  'work.run.variables_from': from,
});
const variablesOf = (html: string) => wordsOf(/id="variables".*?<\/section>/s.exec(html)?.[0] ?? '');
const kept = 'Left empty, the deployed value is kept';
const save = (work: object) =>
  stage.tenant.owner.post('/schedules', {
    ...{ team_id: stage.tenant.team, name: 'Nightly', schedule: { every: 'PT6H' } },
    work: { run: { template_id: template, environment_id: stage.tenant.environment, instance: 'shop', ...work } },
  });

describe('the form of a schedule that keeps the deployed values', () => {
  test('shows the deployed values that a start keeps, and requires no deployed variable', async () => {
    const { text } = await visitor.submit('/schedules/new', { ...fields('deployed'), do: 'show:0@' });
    const shown = variablesOf(text);
    expect(shown).toMatch(new RegExp(`shop optional.*${kept} Deployed: main`));
    expect(shown).toMatch(new RegExp(`colour optional.*${kept} Deployed: blue`));
    expect(shown).toContain(`${kept} instead of a secret value (the set shop-common gives it)`);
    expect(shown).not.toContain('gives green');
  });

  test('tells another person that the secret is kept only if nothing else changes', async () => {
    const other = await stage.api.addUser('maintainer');
    await join(stage.tenant, other, 'member', 'owner');
    const visiting = await signInVisitor(stage.api, other);
    const { text } = await visiting.submit('/schedules/new', { ...fields('deployed'), do: 'show:0@' });
    const shown = variablesOf(text);
    expect(shown).toContain(
      `${kept} if nothing else changes; otherwise enter it again, because another person gave it`,
    );
    expect(shown).toMatch(new RegExp(`shop optional.*${kept} Deployed: main`));
  });

  test('saves no value for a list that is left empty', async () => {
    const made = await visitor.submit('/schedules/new', fields('deployed'));
    expect(made.location, wordsOf(made.text)).toContain('done=created');
    const id = /schedules\/([\w-]+)/.exec(made.location ?? '')?.[1];
    const { body } = await stage.tenant.owner.get(`/schedules/${id}`);
    expect(body.work.run).toMatchObject({ variables_from: 'deployed', variables: {} });
  });

  test('shows the same when its work is changed, except for omitted variables', async () => {
    const made = await save({ variables_from: 'deployed', omit: ['colour'] });
    expect(made.status, made.text).toBe(201);
    const shown = variablesOf((await visitor.get(`/schedules/${made.body.id}/work`)).text);
    expect(shown).toMatch(new RegExp(`shop optional.*${kept} Deployed: main`));
    expect(shown).toMatch(/colour optional.*The set shop-common gives green Deployed: blue/);
  });
});

describe('the form of a schedule that uses the defaults', () => {
  test('shows deployed values besides those of the variable set, and requires variables without a value', async () => {
    const { text } = await visitor.submit('/schedules/new', { ...fields('defaults'), do: 'show:0@' });
    const shown = variablesOf(text);
    expect(shown).toMatch(/colour optional.*The set shop-common gives green Deployed: blue/);
    expect(shown).not.toContain('shop optional');
    expect(shown).not.toContain(kept);
  });
});

describe('the form of a schedule without a decision about deployed values', () => {
  test('asks whether to keep deployed values before it requires deployed variables', async () => {
    await attach(false);
    const sent = await visitor.submit('/schedules/new', fields(''));
    expect(sent.status).toBe(400);
    expect(wordsOf(sent.text)).toMatch(/each start would reset colour, and only what is deployed gives [^:]*api_key/);
    expect(sent.text).toContain('choose whether to keep what is deployed');
    expect(sent.text).not.toContain('Enter a value.');
    await attach(true);
  });
});
