import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import { proposeSpec } from '#domain/registry/spec-proposal.ts';
import { withoutNull } from '#domain/registry/variables/nulls.ts';
import { fireSchedule } from '#domain/schedules/fire-schedule.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import { addAssembly } from '#test/support/assemblies/assemblies.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { openReadingStage, type ReadingStage } from '#test/support/references/reading-stage.ts';

/** Null in the variables of a template whose schema is derived from its files. */

const { variables } = proposeSpec({
  'main.tf': `
variable "networks" { type = list(object({ name = string, new_bits = number })) }
variable "tier" {
  type    = string
  default = "d"
}
variable "size" {
  type    = number
  default = 3
}
variable "labels" {
  type    = map(string)
  default = {}
}
variable "isPublic" {
  type    = bool
  default = false
}
variable "kind" {
  type     = string
  default  = "a"
  nullable = false
  validation {
    condition     = contains(["a", "b"], var.kind)
    error_message = "a or b"
  }
}
`,
});
const networks = [
  { name: 'one', new_bits: 4 },
  { name: null, new_bits: 8 },
];
const nulls = { networks, tier: null, size: null, labels: { team: null }, isPublic: null, kind: null };

let stage: ReadingStage;
let template: string;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
beforeAll(async () => {
  stage = await openReadingStage();
  const step = [{ name: 'go', run: ['true'] }];
  template = await stage.steps.publish({ variables, executor: { kind: 'command', apply: step, destroy: step } });
  visitor = await signInVisitor(stage.api, stage.tenant.owner);
});
afterAll(() => stage?.api.close());

async function ask(values: object, rest: object = {}) {
  const { status, body, text } = await stage.ask(values, { template_id: template, ...rest });
  expect(status, text).toBe(202);
  return body;
}

const send = (fields: Record<string, string>, at = `/catalog/${template}/run`) =>
  visitor.submit(at, {
    ...{ shown: '1.0.0', version: '1.0.0', operation: 'apply', environment_id: stage.tenant.environment },
    ...{ key: randomUUID(), 'n/networks': '0', 'n/labels': '0', ...fields },
  });

/** The fields of a page as a browser would send them, of text areas and text fields alone. */
function filledIn(text: string): Record<string, string> {
  const areas = [...text.matchAll(/<textarea[^>]* name="([vj]\/[^"]*)"[^>]*>\n([^<]*)<\/textarea>/g)];
  const inputs = [...text.matchAll(/<input type="(?:text|hidden)"([^>]*)>/g)].map(([, attributes = '']) => [
    '',
    / name="([vnk]\/[^"]*)"/.exec(` ${attributes}`)?.[1],
    / value="([^"]*)"/.exec(attributes)?.[1],
  ]);
  const all = [...inputs, ...areas].filter(([, name, value]) => name !== undefined && value);
  return Object.fromEntries(all.map(([, name = '', value = '']) => [name, value.replaceAll('&quot;', '"')]));
}

describe('a run with nulls in the variables of a derived schema', () => {
  test('is admitted, shows the nulls, and passes them to its worker', async () => {
    const run = await ask(nulls);
    expect(run.variables).toEqual(nulls);
    expect((await stage.claimPlan(run.id)).inputs.variables).toEqual(nulls);
  });

  test('resets a deployed null if it does not name the variable', async () => {
    await stage.finish((await ask({ networks, tier: null, size: 1 }, { instance: 'reset' })).id);
    const { variables_reset: resets } = await ask({ networks, size: null }, { instance: 'reset' });
    const value = (each: unknown) => ({ value: each, sensitive: false, truncated: false });
    expect(resets).toEqual([{ variable: 'tier', cause: 'default', before: value(null), after: value('d') }]);
  });

  test('gets nulls from the deployment and from another run', async () => {
    const run = await ask(nulls, { instance: 'repeated' });
    await stage.finish(run.id);
    const deployed = await ask({}, { instance: 'repeated', variables_from: 'deployed', version: '1.0.0' });
    expect(deployed).toMatchObject({ variables: nulls, variables_reset: [] });
    const copy = await stage.tenant.owner.post(`/runs/${run.id}/copy`, {});
    expect([copy.status, copy.body.variables], copy.text).toEqual([202, nulls]);
  });

  test('gets nulls from the environment and from a schedule', async () => {
    const path = `/environments/${stage.tenant.environment}/variables`;
    for (const [name, value] of Object.entries({ tier: null, size: '7' }))
      expect((await stage.tenant.owner.put(`${path}/${name}`, { value, category: 'template' })).status).toBeLessThan(
        300,
      );
    expect((await ask({ networks })).variables).toMatchObject({ networks, tier: null, size: 7 });
    for (const name of ['tier', 'size']) await stage.tenant.owner.delete(`${path}/${name}`);
    const run = {
      template_id: template,
      environment_id: stage.tenant.environment,
      instance: 'nightly',
      variables: nulls,
    };
    const schedule = { team_id: stage.tenant.team, name: 'Nightly', schedule: { every: 'PT6H' }, work: { run } };
    const { id } = await stage.tenant.owner.make('/schedules', schedule);
    await fireSchedule(
      { ...stage.api.services, bindingKey: stage.api.services.installation.bindingKey },
      id,
      new Date(),
    );
    const [{ run_id: started }] = (await stage.tenant.owner.get(`/schedules/${id}`)).body.last_results;
    expect((await stage.tenant.owner.get(`/runs/${started}`)).body.variables).toEqual(nulls);
  });

  test('may belong to an assembly, whose draft may contain nulls', async () => {
    const path = await addAssembly(stage.tenant, { nodes: { a: { template } } });
    const check = async (values: object) =>
      (await stage.tenant.owner.post(`${path}/validate`, { spec: { nodes: { a: { template, variables: values } } } }))
        .body;
    expect(await check(nulls)).toMatchObject({ valid: true });
    expect(await check({ ...nulls, networks: null, size: 'x' })).toMatchObject({
      errors: [{ message: 'must be a number or null' }],
    });
  });
});

describe('the form of a derived schema', () => {
  test('has the fields of a schema that refuses null', () => {
    const strict = Object.entries(variables['properties'] as Record<string, JsonObject>).map(([name, each]) => [
      name,
      withoutNull(each),
    ]);
    expect(JSON.stringify(strict)).not.toContain('null');
    const form = planForm(variables);
    expect(form.members).toEqual(planForm({ ...variables, properties: Object.fromEntries(strict) }).members);
    expect(form.members.map(({ kind }) => kind).sort()).toEqual(
      ['array', 'object', 'number', 'options', 'options', 'text'].sort(),
    );
  });

  test('has no choice of null, omits empty fields, and requires a number without a value', async () => {
    const text = await visitor.page(`/catalog/${template}/run`);
    expect(text).toMatch(/<input type="text"[^>]* name="v\/tier"/);
    expect(text).not.toContain('Nothing (null)');
    expect(text).not.toContain('Kind of');
    const network = { 'n/networks': '1', 'v/networks/0/name': 'one', 'v/networks/0/new_bits': '4' };
    const refused = await send({ ...network, 'v/size': 'many', instance: 'typed' });
    expect([refused.status, refused.text.includes('Enter a number.')]).toEqual([422, true]);
    expect(refused.text).not.toContain('or null');
  });

  test('shows a null of an earlier run as JSON, and sends it again', async () => {
    const run = await ask(nulls, { instance: 'copied' });
    const at = `/catalog/${template}/run?from=${run.id}`;
    await stage.tenant.owner.post(`/runs/${run.id}/cancel`, { force: true });
    const fields = filledIn(await visitor.page(at));
    expect(Object.values(fields).filter((text) => text === 'null')).toHaveLength(6);
    const { status, location, text } = await send({ ...fields, instance: 'copied' }, at);
    expect(status, text).toBe(303);
    const copy = (await stage.tenant.owner.get(`/runs/${location?.split('/')[3]?.split('?')[0]}`)).body;
    expect(copy).toMatchObject({ requeued_from: run.id, variables: nulls });
  });
});
