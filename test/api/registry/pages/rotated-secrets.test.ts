import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wordsOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { openReadingStage, type ReadingStage } from '#test/support/references/reading-stage.ts';
import { comparedBy, differencesOn, hintAt, sendForm } from './deploy-form-page.ts';

/** The forms that start runs explain a secret of a variable set after somebody has rotated it. */

let stage: ReadingStage;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
let template: string;
beforeAll(async () => {
  stage = await openReadingStage();
  template = await stage.steps.publish({
    variables: { type: 'object', properties, additionalProperties: false },
    executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }], destroy: [{ name: 'no', run: ['true'] }] },
  });
  visitor = await signInVisitor(stage.api, stage.tenant.owner);
});
afterAll(() => stage?.api.close());

const properties = {
  name: { type: 'string' },
  region: { type: 'string' },
  token: { type: 'string', writeOnly: true },
  own: { type: 'string', writeOnly: true },
};

/** An instance in its own environment, with a token and a region of a variable set. */
async function deployed(variables: object) {
  const { owner, team, project } = stage.tenant;
  const name = `Place ${randomUUID().slice(0, 8)}`;
  const place = (await owner.make('/environments', { project_id: project, name, kind: 'development' })).id;
  const set = `set-${randomUUID().slice(0, 8)}`;
  const { id } = await owner.make('/variable-sets', { name: set, team_id: team });
  const give = async (token: string, region: string) => {
    const given = [
      { name: 'token', value: token, category: 'template', sensitive: true },
      { name: 'region', value: region, category: 'template', sensitive: false },
    ];
    const { status, text } = await owner.put(`/variable-sets/${id}/variables`, { variables: given });
    expect(status, text).toBe(200);
  };
  await give('token-1111', 'us');
  const places = { project_ids: [], environment_ids: [place] };
  expect((await owner.put(`/variable-sets/${id}/attachments`, places)).status).toBe(200);
  const asked = { template_id: template, environment_id: place, instance: 'web' };
  const { body, status, text } = await stage.ask(variables, asked);
  expect(status, text).toBe(202);
  await stage.finish(body.id);
  const again = `/catalog/${template}/run?from_instance=${body.instance_id}`;
  const catalog = `/catalog/${template}/run?environment_id=${place}&instance=web`;
  const copy = `/catalog/${template}/run?from=${body.id}`;
  return { set, place, give, again, catalog, copy };
}

const send = (address: string, fields: Record<string, string>) => sendForm(visitor, address, fields);

describe('the form that deploys an instance again', () => {
  test('lists another secret of the variable set before it is confirmed, and the run gets it', async () => {
    const { set, give, again } = await deployed({ name: 'a' });
    await give('token-2222', 'us');
    const { text } = await visitor.get(again);
    expect(hintAt(text, 'token')).toContain(`the set ${set} gives another value than the deployed one`);
    expect(hintAt(text, 'token')).toContain(`The set ${set} gives a secret value`);
    expect(hintAt(text, 'token')).not.toContain('is kept');
    const fields = { 'v/name': 'b', 'v/region': 'us', 'v/token': '' };
    const shown = await send(again, { ...fields, compared: comparedBy(text) });
    expect(shown.status).toBe(200);
    expect(differencesOn(shown.text)).toMatch(/name a → b/);
    expect(differencesOn(shown.text)).toMatch(
      new RegExp(`token changed; the set ${set} gives another value than the deployed one`),
    );
    const sent = await send(again, { ...fields, compared: comparedBy(shown.text) });
    expect(sent.status, sent.text).toBe(303);
    const run = await visitor.get(sent.location ?? '');
    expect(wordsOf(run.text)).toMatch(new RegExp(`token : secret → another secret \\(from the set ${set} ?\\)`));
    expect(`${text}${shown.text}${run.text}`).not.toMatch(/token-(1111|2222)/);
  });

  test('names the variable set at a secret that is still the deployed one', async () => {
    const { set, again } = await deployed({ name: 'a' });
    const { text } = await visitor.get(again);
    expect(hintAt(text, 'token')).toContain(`Left empty, the deployed value is kept (the set ${set} gives it)`);
    expect(differencesOn(text)).toContain('The form as it was loaded changes no variable.');
  });

  test('keeps the secret of the instance besides a rotated one', async () => {
    const { give, again } = await deployed({ name: 'a', own: 'of-the-run' });
    await give('token-2222', 'us');
    const { text } = await visitor.get(again);
    expect(differencesOn(text)).not.toContain('own');
    expect(hintAt(text, 'own')).toContain('Left empty, the deployed value is kept');
  });

  test('keeps a typed secret if the variable set has another one, and offers to use that', async () => {
    const { set, again } = await deployed({ name: 'a', token: 'typed-3333' });
    const { text } = await visitor.get(again);
    expect(hintAt(text, 'token')).toContain(
      `Left empty, the deployed value is kept instead of a secret value (the set ${set} gives it)`,
    );
    expect(wordsOf(text)).toContain(`token : use a secret value (the set ${set} gives it)`);
    const fields = { 'v/name': 'b', 'v/region': 'us', 'v/token': '' };
    const shown = await send(again, { ...fields, compared: comparedBy(text) });
    expect(differencesOn(shown.text)).toMatch(/name a → b/);
    expect(differencesOn(shown.text)).not.toContain('token');
    const sent = await send(again, { ...fields, compared: comparedBy(shown.text) });
    expect(sent.status, sent.text).toBe(303);
    expect(wordsOf((await visitor.get(sent.location ?? '')).text)).not.toContain('another secret');
    const other = await send(again, { ...fields, omit: 'token' });
    expect(differencesOn(other.text)).toContain(`token a secret → a secret value (the set ${set} gives it)`);
  });
});

describe('the form of the catalog and that of an earlier run', () => {
  test('list a rotated secret besides a plain variable, and nothing while the variable set has the deployed one', async () => {
    const { set, give, catalog, copy } = await deployed({ name: 'a' });
    expect(differencesOn((await visitor.get(catalog)).text)).not.toContain('token');
    expect(differencesOn((await visitor.get(copy)).text)).not.toContain('token');
    await give('token-2222', 'ap');
    const rotated = `token changed; the set ${set} gives another value than the deployed one`;
    const { text } = await visitor.get(catalog);
    expect(differencesOn(text)).toContain(rotated);
    expect(differencesOn(text)).toContain(`region us → ap (the set ${set} gives it)`);
    expect(hintAt(text, 'token')).toContain(`the set ${set} gives another value than the deployed one`);
    const copied = await visitor.get(copy);
    expect(differencesOn(copied.text)).toContain(rotated);
    expect(hintAt(copied.text, 'token')).not.toContain('is kept');
  });
});
