import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiAnswer, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { readInputs } from '#test/support/runs/run-inputs.ts';

let api: TestApi;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
});
afterAll(() => api?.close());

const step = (name: string) => [{ name, run: ['echo', name] }];
const specOf = (properties: object) => ({
  variables: { type: 'object', properties, required: Object.keys(properties) },
  executor: { kind: 'command', apply: step('make'), destroy: step('remove') },
});
const name = { type: 'string', minLength: 2 };
const token = { type: 'string', writeOnly: true, minLength: 8 };

let templates = 0;

async function addTemplate(): Promise<string> {
  const named = { name: `Destroyable ${++templates}`, team_id: tenant.team };
  const { id } = await tenant.owner.make('/registry/templates', named);
  await addVersion(id, '1.0.0', { name, token });
  return id;
}

const addVersion = (template: string, version: string, properties: object) =>
  tenant.owner.make(`/registry/templates/${template}/versions`, { version, spec: specOf(properties) });

const admit = (template: string, body: object = {}): Promise<ApiAnswer> =>
  tenant.owner.post('/runs', { template_id: template, environment_id: tenant.environment, ...body });

/** Admits an apply and records it as the deployment of its instance. */
async function deploy(template: string, variables: object): Promise<void> {
  const { status, body, text } = await admit(template, { variables });
  expect(status, text).toBe(202);
  await api.rows(`update runs set status = 'succeeded', phase = 'finished', finished_at = now() where id = ?`, [
    body.id,
  ]);
  await api.rows('update instances set resource_count = 1, deployed_run_id = ? where id = ?', [
    body.id,
    body.instance_id,
  ]);
}

describe('a destroy', () => {
  const deployed = { name: 'Ana', token: 'only Ana knows this' };

  it('a destroy without a version and variables uses those of the deployment, secrets included', async () => {
    const template = await addTemplate();
    await deploy(template, deployed);
    await addVersion(template, '2.0.0', { size: { type: 'integer' } });
    const { status, body, text } = await admit(template, { operation: 'destroy' });
    expect(status, text).toBe(202);
    expect(body).toMatchObject({
      operation: 'destroy',
      template_version: '1.0.0',
      variables: { name: 'Ana', token: { sensitive: true } },
    });
    expect(await readInputs(api, body.id)).toMatchObject({ variables: deployed, sensitive: ['token'] });
  });

  it("a destroy uses its own values for the variables that it names, and the requester's own deployed secrets", async () => {
    const template = await addTemplate();
    await deploy(template, deployed);
    const renamed = await admit(template, { operation: 'destroy', variables: { name: 'Bea' } });
    expect(renamed.status, renamed.text).toBe(202);
    expect((await readInputs(api, renamed.body.id)).variables).toEqual({ ...deployed, name: 'Bea' });
    const own = { token: 'known to Bea' };
    const { body } = await admit(template, { operation: 'destroy', variables: own });
    expect((await readInputs(api, body.id)).variables).toEqual({ ...deployed, ...own });
  });

  it('a destroy that repeats a value of the deployment uses its secrets', async () => {
    const template = await addTemplate();
    await deploy(template, deployed);
    const { status, body, text } = await admit(template, { operation: 'destroy', variables: { name: 'Ana' } });
    expect(status, text).toBe(202);
    expect((await readInputs(api, body.id)).variables).toEqual(deployed);
  });

  it('a destroy with another version takes from the deployment the variables that the version has', async () => {
    const template = await addTemplate();
    await deploy(template, deployed);
    await addVersion(template, '1.1.0', { name });
    const { status, body, text } = await admit(template, { operation: 'destroy', version: '1.1.0' });
    expect(status, text).toBe(202);
    expect(body).toMatchObject({ template_version: '1.1.0', variables: { name: 'Ana' } });
  });

  it('a destroy keeps a secret hidden if the other version no longer declares it as secret', async () => {
    const template = await addTemplate();
    await deploy(template, deployed);
    await addVersion(template, '1.1.0', { token: { type: 'string' } });
    const answer = await admit(template, { operation: 'destroy', version: '1.1.0' });
    expect(answer.status, answer.text).toBe(202);
    expect(answer.text).not.toContain(deployed.token);
    expect((await readInputs(api, answer.body.id)).sensitive).toContain('token');
  });

  it('does not show a secret of the deployment that the other version refuses', async () => {
    const template = await addTemplate();
    await deploy(template, deployed);
    await addVersion(template, '1.1.0', { token: { type: 'string', enum: ['a'] } });
    const answer = await admit(template, { operation: 'destroy', version: '1.1.0' });
    expect(answer.status).toBe(422);
    expect(answer.text).not.toContain(deployed.token);
  });

  it('a destroy of an instance that was never deployed answers 422 and names the variables that are missing', async () => {
    const answer = await admit(await addTemplate(), { operation: 'destroy', instance: 'nothing-yet' });
    expect([answer.status, answer.body.error]).toEqual([422, expect.stringContaining('/name is required')]);
  });

  it('a destroy after the inputs of the deployed run were deleted names the variables that are missing', async () => {
    const template = await addTemplate();
    await deploy(template, deployed);
    await api.rows(`update runs set sealed_inputs = '', deleted_at = now() where template_id = ?`, [template]);
    const answer = await admit(template, { operation: 'destroy' });
    expect([answer.status, answer.body.error]).toEqual([422, expect.stringContaining('/name is required')]);
  });

  it('takes no values from the deployment of another template', async () => {
    await deploy(await addTemplate(), deployed);
    const other = await addTemplate();
    const { body } = await tenant.owner.get(`/instances?environment_id=${tenant.environment}`);
    const [{ id, name }] = body.instances;
    await api.rows('update instances set resource_count = 0 where id = ?', [id]);
    const answer = await admit(other, { operation: 'destroy', instance: name });
    expect(answer.status).toBe(422);
  });
});

describe('an apply', () => {
  it('an apply after a deployment must name all variables again, and uses the latest version', async () => {
    const template = await addTemplate();
    await deploy(template, { name: 'Ana', token: 'only Ana knows this' });
    await addVersion(template, '2.0.0', { size: { type: 'integer' } });
    expect((await admit(template)).body.error).toContain('/size is required');
    const { body } = await admit(template, { variables: { size: 1 } });
    expect(body.template_version).toBe('2.0.0');
  });
});
