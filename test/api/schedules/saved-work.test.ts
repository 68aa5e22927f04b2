import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate } from '#test/support/assemblies/assemblies.ts';

let api: TestApi;
let tenant: Tenant;
/** The ids of a template without destroy steps, and of one with them. */
let lasting: string;
let removable: string;
let assembly: string;

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  const { id, slug } = await addTemplate(tenant.owner, { team: tenant.team });
  lasting = id;
  removable = (await tenant.owner.make('/registry/templates', { name: 'Removable', team_id: tenant.team })).id;
  const step = [{ name: 'go', run: ['true'] }];
  const spec = { executor: { kind: 'command', apply: step, destroy: step } };
  await tenant.owner.make(`/registry/templates/${removable}/versions`, { version: '1.0.0', spec });
  const nodes = { network: { template: slug, version: '1.0.0', instance: 'net', variables: { name: 'n' } } };
  const path = await addAssembly(tenant, { nodes });
  expect((await tenant.owner.post(`${path}/publish`, { version: '1.0.0' })).status).toBe(201);
  assembly = path.slice('/assemblies/'.length);
});
afterAll(() => api?.close());

const save = (work: object) =>
  tenant.owner.post('/schedules', { team_id: tenant.team, name: 'S', schedule: { every: 'PT6H' }, work });
const destroy = (run: object) => ({
  run: { template_id: removable, environment_id: tenant.environment, operation: 'destroy', ...run },
});
const inAssembly = (run: object) => ({
  assembly_run: { assembly_id: assembly, environment_id: tenant.environment, ...run },
});

describe('saving work that could never start answers an error', () => {
  it.each([
    ['a destroy by an unknown version', () => destroy({ version: '9.9.9' }), 'version_unknown'],
    ['a destroy by a malformed version', () => destroy({ version: 'newest' }), 'version_malformed'],
    ['a destroy that replaces resources', () => destroy({ replace: ['a.b'] }), 'operation_unsupported'],
    ['a destroy without destroy steps', () => destroy({ template_id: lasting }), 'operation_unsupported'],
    [
      'a destroy with an option of another tool',
      () => destroy({ options: { target: ['a.b'] } }),
      'operation_unsupported',
    ],
  ])('%s', async (_, work, code) => {
    const { status, headers, text } = await save(work());
    expect([status, headers['x-error-code']], text).toEqual([422, code]);
  });

  it('an assembly run for a node that the assembly does not have', async () => {
    const { status, body } = await save(inAssembly({ only: ['nope'], operation: 'plan' }));
    expect([status, body.error]).toEqual([400, 'only: there is no node "nope"; the nodes are "network"']);
  });
});

it.each([
  ['a destroy of what is not deployed yet', () => destroy({})],
  ['an assembly run for some nodes', () => inAssembly({ only: ['network'], operation: 'plan' })],
  ['a destroy of an assembly that is not deployed yet', () => inAssembly({ operation: 'destroy', only: ['network'] })],
])('a schedule with %s can be saved', async (_, work) => {
  const { status, text } = await save(work());
  expect(status, text).toBe(201);
});

it.each([
  ['a run', () => ({ run: { template_id: removable } })],
  ['an assembly run', () => inAssembly({ operation: 'plan' })],
])('the work of a schedule that starts %s can be sent back as it was read', async (_, work) => {
  const { body } = await save(work());
  const changed = await tenant.owner.patch(`/schedules/${body.id}`, { work: body.work });
  expect([changed.status, changed.body.work], changed.text).toEqual([200, body.work]);
});

describe('a change of a schedule to its present values', () => {
  it.each([{}, { name: 'S' }, { enabled: true }, { schedule: { every: 'PT6H' } }])(
    '%j keeps the revision, and does not make the caller an author of its work',
    async (change) => {
      const { body } = await save(destroy({}));
      const { status, headers } = await tenant.owner.patch(`/schedules/${body.id}`, change);
      expect([status, headers['etag']]).toEqual([200, '"1"']);
      expect(await api.rows('select times_author from schedules where id = ?', [body.id])).toEqual([
        { times_author: null },
      ]);
    },
  );
});

it('a schedule whose environment is archived has no next times and cannot be started by hand', async () => {
  const own = await makeTenant(api);
  const template = (await addTemplate(own.owner, { team: own.team })).id;
  const run = { template_id: template, environment_id: own.environment, variables: { name: 'x' } };
  const { id } = await own.owner.make('/schedules', {
    team_id: own.team,
    name: 'S',
    schedule: { every: 'PT6H' },
    work: { run },
  });
  const read = async () => (await own.owner.get(`/schedules/${id}`)).body;
  const archive = (verb: string) => own.owner.post(`/environments/${own.environment}/${verb}`, {});
  expect((await archive('archive')).status).toBe(200);
  const { next_times, actions } = await read();
  expect(next_times).toEqual([]);
  const reason = 'the environment is archived: unarchive it first';
  expect(actions[1]).toEqual({ name: 'trigger', allowed: false, reason });
  expect((await own.owner.get(`/schedules?team_id=${own.team}`)).body.schedules[0].next_times).toEqual([]);
  const refused = await own.owner.post(`/schedules/${id}/trigger`);
  expect([refused.status, refused.headers['x-error-code'], refused.body.error]).toEqual([409, 'archived', reason]);
  expect((await own.owner.patch(`/schedules/${id}`, { name: 'Renamed' })).status).toBe(200);
  expect((await archive('unarchive')).status).toBe(200);
  expect((await read()).next_times).toHaveLength(5);
  expect((await own.owner.post(`/schedules/${id}/trigger`)).status).toBe(202);
});

it('schedules are listed by the template or the assembly that they start', async () => {
  const own = { owner: tenant.owner, team_id: tenant.team };
  const { id: template } = await addTemplate(own.owner, { team: own.team_id });
  const run = { template_id: template, environment_id: tenant.environment, variables: { name: 'x' } };
  const ofTemplate = (await save({ run })).body.id;
  const ofAssembly = (await save(inAssembly({ operation: 'plan' }))).body.id;
  const list = async (query: string) => {
    const { body } = await own.owner.get(`/schedules?${query}`);
    return body.schedules.map((each: { id: string }) => each.id);
  };
  expect(await list(`template_id=${template}`)).toEqual([ofTemplate]);
  const ofAll = await list(`assembly_id=${assembly}`);
  expect(ofAll).toContain(ofAssembly);
  expect(ofAll).not.toContain(ofTemplate);
});
