import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sayHello } from '#test/support/access/people.ts';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { expectConflict } from '#test/support/api/expect-conflict.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let owner: ApiUser;
let place: { environment_id: string; template_id: string };
beforeAll(async () => {
  api = await startApi();
  const tenant = await makeTenant(api);
  owner = tenant.owner;
  const template = await owner.make('/registry/templates', { name: 'Net', team_id: tenant.team });
  await owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec: sayHello });
  place = { environment_id: tenant.environment, template_id: template.id };
});
afterAll(() => api?.close());

let made = 0;
const makeInstance = async () => (await owner.make('/instances', { ...place, name: `adopted-${++made}` })).id;

/** Sends the bytes of a state as they are. */
async function importInto(instance: string, state: string | Buffer, caller = owner) {
  const answer = await api.app.inject({
    method: 'POST',
    url: `/api/v1/instances/${instance}/state`,
    headers: { ...caller.credential, 'content-type': 'application/json' },
    payload: state,
  });
  return { status: answer.statusCode, text: answer.body, body: answer.json(), headers: answer.headers };
}

const resource = '{"mode":"managed","type":"t","name":"n","instances":[{"attributes":{"id":9007199254740993}}]}';
const stateWith = (members: string) => `{"version":4,"serial":1,"lineage":"a"${members}}`;
const mebibyte = 1024 * 1024;

/** A state of exactly this many bytes, in many resources. */
function stateOfSize(bytes: number): Buffer {
  const one = (at: number) =>
    `{"mode":"managed","type":"t","name":"r${at}","instances":[{"attributes":{"text":"${'x'.repeat(100_000)}"}}]},`;
  const parts = ['{"version":4,"serial":1,"lineage":"a","resources":['];
  for (let at = 0, size = 0; size < bytes - 200_000; at += 1) size += parts[parts.push(one(at)) - 1]?.length ?? 0;
  const state = `${parts.join('').slice(0, -1)}]}`;
  return Buffer.from(state.padEnd(bytes));
}

describe('an imported state', () => {
  test('is downloaded byte for byte, with integers beyond 2^53 and its whitespace', async () => {
    const instance = await makeInstance();
    const state = `{ "serial" : 9007199253740991,\n\t"version":4, "lineage":"caf\\u00e9", "resources":[${resource}], "later": 1e400 }\n`;
    const imported = await importInto(instance, state);
    expect(imported.status, imported.text).toBe(201);
    expect(imported.headers['location']).toBe(`/api/v1/instances/${instance}/state-versions/1`);
    expect(imported.body).toMatchObject({ serial: 1, run_id: null, resource_count: 1, size: Buffer.byteLength(state) });
    const downloaded = await owner.get(`/instances/${instance}/state-versions/1/download`);
    expect(downloaded.text).toBe(state);
  });

  test('shows its outputs at once, with secret ones masked', async () => {
    const instance = await makeInstance();
    const outputs =
      '"outputs":{"cidr":{"value":"10.0.0.0/8","type":"string"},"token":{"value":"hunter2","type":"string","sensitive":true}}';
    expect((await importInto(instance, stateWith(`,${outputs}`))).status).toBe(201);
    const shown = await owner.get(`/instances/${instance}/outputs`);
    expect(shown.body.outputs).toEqual({
      cidr: { value: '10.0.0.0/8', sensitive: false },
      token: { value: null, sensitive: true },
    });
  });

  test('is recorded in the audit without its content', async () => {
    const instance = await makeInstance();
    await importInto(instance, stateWith(`,"resources":[${resource}],"outputs":{"a":{"value":"hunter2"}}`));
    const administrator = await api.addUser('admin');
    const records = await administrator.get(`/audit?resource_id=${instance}&action=instance.state_imported`);
    expect(records.body.records ?? records.body.audit_records).toHaveLength(1);
    expect(records.text).not.toContain('hunter2');
  });

  test('is refused if the instance has a state, which is kept', async () => {
    const instance = await makeInstance();
    await importInto(instance, stateWith(''));
    expectConflict(await owner.post(`/instances/${instance}/state`, JSON.parse(stateWith(''))), 'already has state');
    const versions = await owner.get(`/instances/${instance}/state-versions`);
    expect(versions.body.state_versions).toHaveLength(1);
  });

  test.each([
    ['another format version', '{"version":3,"serial":1,"lineage":"a"}', 400, 'version: expected'],
    ['a version that is a text', '{"version":"4","serial":1,"lineage":"a"}', 400, 'version: expected'],
    ['no serial', '{"version":4,"lineage":"a"}', 400, 'serial: expected a whole number'],
    ['a negative serial', '{"version":4,"serial":-1,"lineage":"a"}', 400, 'serial: expected a whole number'],
    ['a fractional serial', '{"version":4,"serial":1.0,"lineage":"a"}', 400, 'serial: expected a whole number'],
    ['a serial near 2^53', '{"version":4,"serial":9007199254740991,"lineage":"a"}', 400, 'serial: expected at most'],
    [
      'a serial beyond 2^64',
      '{"version":4,"serial":99999999999999999999,"lineage":"a"}',
      400,
      'serial: expected at most',
    ],
    ['no lineage', '{"version":4,"serial":1}', 400, 'lineage: expected'],
    ['an empty lineage', '{"version":4,"serial":1,"lineage":""}', 400, 'lineage: expected'],
    ['a member twice', stateWith(',"serial":2'), 400, 'serial: expected the member once'],
    ['resources that are no list', stateWith(',"resources":{}'), 400, 'resources: expected a list'],
    ['outputs that are a list', stateWith(',"outputs":[{"value":1}]'), 400, 'outputs: expected an object'],
    ['outputs that are null', stateWith(',"outputs":null'), 400, 'outputs: expected an object'],
    ['outputs twice', stateWith(',"outputs":{},"outputs":{}'), 400, 'outputs: expected the member once'],
    ['an output twice', stateWith(',"outputs":{"a":{},"a":{}}'), 400, 'outputs: expected each name once'],
    ['an output that is no object', stateWith(',"outputs":{"a":1}'), 400, 'outputs: expected an object for each name'],
    ['cut JSON', '{"version":4,', 400, 'the body is not valid JSON'],
    ['no object', '[1]', 400, 'version: expected'],
    ['an encrypted state', '{"serial":1,"lineage":"a","encrypted_data":"x"}', 422, 'tofu state pull'],
    ['a NUL in an output', stateWith(',"outputs":{"a":{"value":"\\u0000"}}'), 422, 'outputs: the set of outputs'],
  ])(
    'an imported state with %s is refused with a reason that does not repeat it',
    async (_what, state, status, reason) => {
      const instance = await makeInstance();
      const answer = await importInto(instance, state);
      expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(reason)]);
      expect((await owner.get(`/instances/${instance}`)).body).toMatchObject({ state_serial: 0, resource_count: 0 });
    },
  );

  test('an imported state that is empty, or in bytes that are not UTF-8, is refused', async () => {
    const instance = await makeInstance();
    expect((await importInto(instance, Buffer.from([0x7b, 0xff, 0x7d]))).status).toBe(400);
    expect((await importInto(instance, '')).status).toBe(400);
  });
});

describe('the size of a state', () => {
  test('may be 64 MiB, and the service responds while it reads the state', { timeout: 60_000 }, async () => {
    const instance = await makeInstance();
    const state = stateOfSize(64 * mebibyte);
    expect(state.length).toBe(64 * mebibyte);
    let [isDone, answered] = [false, 0];
    const importing = importInto(instance, state).finally(() => {
      isDone = true;
    });
    while (!isDone) answered += (await owner.get(`/instances/${instance}`)).status === 200 ? 1 : 0;
    const imported = await importing;
    expect(imported.status, imported.text).toBe(201);
    expect(answered).toBeGreaterThan(10);
    const downloaded = await api.app.inject({
      url: `/api/v1/instances/${instance}/state-versions/1/download`,
      headers: owner.credential,
    });
    expect(downloaded.rawPayload.equals(state)).toBe(true);
  });

  test('a state of one byte too many answers 413, and every other operation keeps its limit of 1 MiB', async () => {
    const instance = await makeInstance();
    const over = await importInto(instance, Buffer.alloc(64 * mebibyte + 1, ' '));
    expect([over.status, over.body.error]).toEqual([413, 'the body is larger than 64 MiB']);
    const other = await owner.post('/instances', { ...place, name: 'x'.repeat(mebibyte) });
    expect([other.status, other.body.error]).toEqual([413, 'the body is larger than 1 MiB']);
  });
});

describe('imports at the same time', () => {
  test('are processed one for each caller, and others get a Retry-After', async () => {
    const instances = await Promise.all([1, 2, 3].map(makeInstance));
    const state = stateOfSize(4 * mebibyte);
    const answers = await Promise.all(instances.map((instance) => importInto(instance, state)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(201);
    expect(statuses.at(-1)).toBe(429);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers).toMatchObject({ 'retry-after': '5', 'x-error-code': 'rate_limited' });
    for (const [at, { status }] of answers.entries())
      if (status === 429) expect((await importInto(instances[at] ?? '', state)).status).toBe(201);
  });
});
