import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate, saveDraft } from '#test/support/assemblies/assemblies.ts';

const value = 'first-typed-in-the-open';
const masked = { sensitive: true };

let api: TestApi;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
});
afterAll(() => api?.close());

const step = [{ name: 'go', run: ['true'] }];
const executor = { kind: 'command', apply: step, destroy: step };
const open = { token: { type: 'string' }, size: { type: 'integer' } };
const secret = { ...open, token: { type: 'string', writeOnly: true } };

async function publish(template: string, version: string, properties: object): Promise<void> {
  const spec = { variables: { type: 'object', properties }, executor };
  await tenant.owner.make(`/registry/templates/${template}/versions`, { version, spec });
}

/** A template whose first version does not declare its token as secret. */
async function addOpenTemplate(): Promise<string> {
  const body = { name: `T ${newId()}`, team_id: tenant.team };
  const { id } = await tenant.owner.make('/registry/templates', body);
  await publish(id, '1.0.0', open);
  return id;
}

async function save(work: object): Promise<string> {
  const body = { team_id: tenant.team, name: 'S', schedule: { every: '6h' }, work };
  return (await tenant.owner.make('/schedules', body)).id;
}
const runOf = (template: string, run: object = {}) => ({
  run: { template_id: template, environment_id: tenant.environment, variables: { token: value, size: 3 }, ...run },
});

/** The variables as the answers for one schedule and for a list show them, which must agree. */
async function shownOf(id: string): Promise<unknown> {
  const { body, text } = await tenant.owner.get(`/schedules/${id}`);
  const list = await tenant.owner.get(`/schedules?team_id=${tenant.team}&limit=200`);
  const listed = list.body.schedules.find((each: { id: string }) => each.id === id);
  expect(listed.work).toEqual(body.work);
  const { variables } = body.work.run ?? body.work.assembly_run;
  if (variables.token !== value) expect(text).not.toContain(value);
  return variables;
}

describe('a variable that was saved as plain text', () => {
  it('a variable that was saved as plain text is masked when the latest version declares it secret', async () => {
    const template = await addOpenTemplate();
    const id = await save(runOf(template));
    expect(await shownOf(id)).toEqual({ token: value, size: 3 });
    await publish(template, '1.1.0', secret);
    expect(await shownOf(id)).toEqual({ token: masked, size: 3 });
  });

  it('a variable that was saved as plain text is shown while the schedule runs the version in which it is plain, and masked if its range has a later one', async () => {
    const template = await addOpenTemplate();
    const exact = await save(runOf(template, { version: '1.0.0' }));
    const range = await save(runOf(template, { version: '^1.0' }));
    await publish(template, '2.0.0', secret);
    expect([await shownOf(exact), await shownOf(range)]).toMatchObject([{ token: value }, { token: value }]);
    await publish(template, '1.0.1', secret);
    expect([await shownOf(exact), await shownOf(range)]).toMatchObject([{ token: value }, { token: masked }]);
  });

  it('a variable that was saved as plain text is masked when the latest version no longer declares it', async () => {
    const template = await addOpenTemplate();
    const id = await save(runOf(template));
    await publish(template, '1.1.0', { size: open.size });
    expect(await shownOf(id)).toEqual({ token: masked, size: 3 });
  });

  it('a variable that was saved as plain text is masked with all others if no version would run', async () => {
    const template = await addOpenTemplate();
    const id = await save(runOf(template, { version: '^1.0' }));
    expect((await tenant.owner.post(`/registry/templates/${template}/versions/1.0.0/yank`, {})).status).toBe(200);
    expect(await shownOf(id)).toEqual({ token: masked, size: masked });
  });

  it('a variable that was saved as plain text is masked by the deployed version, and not by the latest one, if a destroy names no version', async () => {
    const template = await addOpenTemplate();
    await publish(template, '1.1.0', secret);
    const instance = `i-${newId()}`;
    const apply = runOf(template, { version: '1.0.0', instance }).run;
    const { id: run } = (await tenant.owner.post('/runs', apply)).body;
    await api.rows(`update instances set deployed_run_id = ? where name = ?`, [run, instance]);
    const id = await save(runOf(template, { operation: 'destroy', instance }));
    expect(await shownOf(id)).toMatchObject({ token: value });
    const [row] = await api.rows<{ id: string }>(
      `select id from template_versions where template_id = ? and version = '1.1.0'`,
      [template],
    );
    await api.rows('update runs set template_version_id = ? where id = ?', [row?.id, run]);
    expect(await shownOf(id)).toMatchObject({ token: masked });
  });
});

it('a variable that was secret when it was saved stays masked in a version in which it is plain', async () => {
  const template = await addOpenTemplate();
  await publish(template, '1.1.0', secret);
  const id = await save(runOf(template));
  await publish(template, '1.2.0', open);
  expect(await shownOf(id)).toEqual({ token: masked, size: 3 });
});

it('a variable of an assembly is masked when its latest version declares it secret', async () => {
  const { slug } = await addTemplate(tenant.owner, { team: tenant.team });
  const nodes = { network: { template: slug, version: '1.0.0', instance: `net-${newId()}`, variables: { name: 'n' } } };
  const draft = (properties: object) => ({ variables: { type: 'object', properties }, nodes });
  const path = await addAssembly(tenant, draft(open));
  expect((await tenant.owner.post(`${path}/publish`, { version: '1.0.0' })).status).toBe(201);
  const assembly = path.slice('/assemblies/'.length);
  const run = { assembly_id: assembly, environment_id: tenant.environment, variables: { token: value, size: 3 } };
  const id = await save({ assembly_run: run });
  expect(await shownOf(id)).toEqual({ token: value, size: 3 });
  await saveDraft(tenant.owner, path, draft(secret));
  expect((await tenant.owner.post(`${path}/publish`, { version: '1.1.0' })).status).toBe(201);
  expect(await shownOf(id)).toEqual({ token: masked, size: 3 });
});
