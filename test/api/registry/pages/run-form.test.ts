import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { Visitor } from '#test/support/browser/visitor.ts';
import { readInputs } from '#test/support/runs/run-inputs.ts';

const command = { kind: 'command', apply: [{ name: 'go', run: ['true'] }], destroy: [{ name: 'end', run: ['true'] }] };

/** Every keyword that an author would use. */
const schema = {
  type: 'object',
  properties: {
    region: { title: 'Region', enum: ['eu', 'us', 'ap', 'sa', 'af'], description: 'Where it <b>runs</b>' },
    size: { type: 'integer', minimum: 1, maximum: 10, multipleOf: 2, default: 4, examples: [2, 6] },
    ratio: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    name: { type: 'string', minLength: 3, maxLength: 12, pattern: '^[a-z]+$' },
    notes: { type: 'string', contentMediaType: 'text/plain' },
    from: { type: 'string', format: 'date' },
    isPublic: { type: 'boolean', default: false },
    kind: { const: 'fixed' },
    zones: { type: 'array', uniqueItems: true, items: { enum: ['a', 'b', 'c'] } },
    ports: { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 3 },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    network: {
      type: 'object',
      properties: { cidr: { type: 'string' }, nat: { type: 'boolean' } },
      required: ['cidr'],
    },
    storage: {
      oneOf: [
        { title: 'Disk', properties: { type: { const: 'disk' }, gb: { type: 'integer' } }, required: ['type', 'gb'] },
        { title: 'Bucket', properties: { type: { const: 'bucket' }, name: { type: 'string' } }, required: ['type'] },
      ],
      type: 'object',
    },
    either: { type: ['string', 'null'] },
    tier: {
      oneOf: [
        { const: 's', title: 'Small' },
        { const: 'l', title: 'Large' },
      ],
    },
    anything: {},
    shared: { $ref: '#/$defs/shared' },
    merged: {
      allOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { properties: { b: { type: 'string' } } }],
    },
    tree: { $ref: '#/$defs/tree' },
    token: { type: 'string', writeOnly: true, minLength: 4 },
  },
  required: ['region', 'token'],
  $defs: {
    shared: { type: 'string', description: 'A shared text' },
    tree: {
      type: 'object',
      properties: { value: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/tree' } } },
    },
  },
};

let api: TestApi;
let tenant: Tenant;
let visitor: Visitor;
let template: string;
let path: string;

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  template = await publish(schema);
  path = `/catalog/${template}/run`;
  visitor = await signInVisitor(api, tenant.owner);
});
afterAll(() => api?.close());

async function publish(variables: object, name = `Form ${randomUUID()}`): Promise<string> {
  const { id } = await tenant.owner.make('/registry/templates', { name, team_id: tenant.team });
  await tenant.owner.make(`/registry/templates/${id}/versions`, {
    version: '1.0.0',
    spec: { variables, executor: command },
  });
  return id;
}

type Fields = Record<string, string | string[]>;

/** Sends the form as a browser without scripts does, with the hidden fields of the page. */
async function send(fields: Fields, at = path) {
  const body = new URLSearchParams();
  const basic = {
    shown: '1.0.0',
    operation: 'apply',
    environment_id: tenant.environment,
    key: randomUUID(),
    ...fields,
  };
  for (const [name, value] of Object.entries(basic)) for (const each of [value].flat()) body.append(name, each);
  return visitor.submit(at, body.toString());
}

/** Returns the text of the summary of a refused form. */
function problemsIn(text: string): string {
  const summary = /role="alert".*?<\/div><\/div>/s.exec(text)?.[0] ?? text.slice(0, 3000);
  return summary.replaceAll(/<svg.*?<\/svg>|<[^>]+>/gs, ' ').replaceAll(/\s+/g, ' ');
}

async function runAt(location: string | undefined) {
  expect(location).toMatch(/^\/workloads\/runs\/[0-9a-f-]+\?done=admitted$/);
  const id = location?.split('/')[3]?.split('?')[0] ?? '';
  return (await tenant.owner.get(`/runs/${id}`)).body;
}

const needed = { 'v/region': '"eu"', 'v/token': 'secret' };

describe('the form for a run', () => {
  test.each(['v/zzz', 'v/network/zzz', 'v/ports/9999', 'v/storage/~s7/gb', 'n/labels/~r9999', 'v/size/x'])(
    'refuses the field %s, which it does not have',
    async (name) => {
      const { status, text } = await send({ ...needed, [name]: '1' });
      expect([status, text.includes('This form has changed since you opened it')]).toEqual([400, true]);
    },
  );

  test.each([
    ['version', 'zzz', 'The template has no such version.'],
    ['version', '9.9.9', 'The template has no such version.'],
    ['environment_id', 'zzz', 'It doesn&#39;t exist, or you may not have access to it.'],
    ['environment_id', randomUUID(), 'It doesn&#39;t exist, or you may not have access to it.'],
  ])(
    'the form for a run with the %s %s shows the problem at the field, and keeps what was typed',
    async (name, value, problem) => {
      const { status, text } = await send({ ...needed, 'v/name': 'typed', message: 'also typed', [name]: value });
      expect([status, text.includes(problem)]).toEqual([422, true]);
      expect(text).toMatch(/name="v\/name"[^>]*value="typed"|value="typed"[^>]*name="v\/name"/);
      expect(text).toContain('also typed');
      const link = await visitor.get(`${path}?${name}=${value}`);
      expect([link.status, link.text.includes(problem)]).toEqual([422, true]);
    },
  );

  test('shows a field for every variable, and describes the rules', async () => {
    const { status, text } = await visitor.get(path);
    expect(status).toBe(200);
    for (const name of Object.keys(schema.properties)) expect(text, name).toMatch(new RegExp(`name="[vnskj]/${name}`));
    expect(text).toContain('Where it &lt;b&gt;runs&lt;/b&gt;');
    expect(text).toContain('A whole number from 1 to 10');
    expect(text).toContain('a multiple of 2');
    expect(text).toContain('Default: 4');
    expect(text).toMatch(/type="password"[^>]*name="v\/token"/);
  });

  test('accepts a key of several lines from the field for browsers without scripts, with its line breaks', async () => {
    const { text } = await visitor.get(path);
    for (const name of ['token', 'shared']) {
      const shown = new RegExp(`<noscript>(?:(?!</noscript>).)*<textarea[^>]*name="l/${name}"`, 's');
      expect(text).toMatch(shown);
    }
    const key = '-----BEGIN KEY-----\nabc\n-----END KEY-----\n';
    const sent = key.replaceAll('\n', '\r\n');
    const { location } = await send({
      ...needed,
      'l/token': sent,
      'v/token': '',
      'l/shared': sent,
      'v/shared': 'other',
    });
    expect((await runAt(location)).variables).toMatchObject({ shared: key, token: { sensitive: true } });
  });

  test('admits a run with the values of every kind of field', async () => {
    const answer = await send({
      ...needed,
      'v/size': '6',
      'v/ratio': '0.5',
      'v/name': 'abc',
      'v/notes': 'one\r\ntwo',
      'v/from': '2030-05-31',
      'v/isPublic': 'true',
      'v/kind': '"fixed"',
      'v/zones': ['"a"', '"c"'],
      'n/ports': '2',
      'v/ports/0': '80',
      'v/ports/1': '443',
      'n/pair': '2',
      'v/pair/0': 'x',
      'v/pair/1': '1',
      'n/labels': '1',
      'k/labels/~r0': 'team',
      'v/labels/~r0': 'core',
      'v/network/cidr': '10.0.0.0/8',
      'v/network/nat': 'false',
      's/storage': '0',
      'p/storage': '0',
      'v/storage/~s0/gb': '20',
      's/either': '1',
      'p/either': '1',
      'v/tier': '"l"',
      'j/anything': '{"deep": [1, null]}',
      'v/shared': 'text',
      'v/merged/a': 'A',
      'v/merged/b': 'B',
      'v/tree/value': 'root',
      'n/tree/children': '1',
      'v/tree/children/0/value': 'leaf',
      message: 'first',
      instance: 'every-kind',
    });
    expect(answer.status, problemsIn(answer.text)).toBe(303);
    const run = await runAt(answer.location);
    expect(run).toMatchObject({ instance: 'every-kind', message: 'first', template_version: '1.0.0' });
    expect(run.variables).toEqual({
      region: 'eu',
      size: 6,
      ratio: 0.5,
      name: 'abc',
      notes: 'one\ntwo',
      from: '2030-05-31',
      isPublic: true,
      kind: 'fixed',
      zones: ['a', 'c'],
      ports: [80, 443],
      pair: ['x', 1],
      labels: { team: 'core' },
      network: { cidr: '10.0.0.0/8', nat: false },
      storage: { type: 'disk', gb: 20 },
      either: null,
      tier: 'l',
      anything: { deep: [1, null] },
      shared: 'text',
      merged: { a: 'A', b: 'B' },
      tree: { value: 'root', children: [{ value: 'leaf' }] },
      token: { sensitive: true },
    });
  });
});

describe('a refused form', () => {
  test('names each problem at its field and in the summary, and keeps what was typed except secrets', async () => {
    const answer = await send({
      'v/region': '"eu"',
      'v/token': 'abc',
      'v/size': '7',
      'v/ratio': 'a lot',
      'v/name': 'Not <i>right',
      'n/ports': '1',
      'v/ports/0': 'x',
      's/storage': '0',
      'p/storage': '0',
      instance: 'Not a name',
    });
    expect(answer.status).toBe(422);
    expect(problemsIn(answer.text)).toContain('Instance : Use 1-100 lowercase letters');
    expect(problemsIn(answer.text)).toContain('size :');
    const again = await send({
      'v/region': '"eu"',
      'v/token': 'abc',
      'v/size': '7',
      'v/ratio': 'a lot',
      'v/name': 'Not <i>right',
      'n/ports': '1',
      'v/ports/0': 'x',
      's/storage': '0',
      'p/storage': '0',
    });
    expect(again.status).toBe(422);
    const summary = problemsIn(again.text);
    for (const problem of [
      'size : Must be a multiple of 2.',
      'ratio : Enter a number.',
      'ports 1 : Enter a whole number.',
      'token : Must have at least 4 characters.',
    ])
      expect(summary).toContain(problem);
    expect(summary).toContain('The secrets that you entered are kept, but not shown.');
    expect(again.text).toContain('value="Not &lt;i&gt;right"');
    expect(again.text).toContain('value="a lot"');
    expect(again.text).not.toContain('value="abc"');
    const linked = /href="#(field-v[^"]*size)"/.exec(again.text)?.[1];
    expect(again.text).toMatch(new RegExp(`id="${linked}"[^>]*aria-invalid="true"`));
    expect(again.text).toContain('<title>Error: ');
  });

  test('says that a variable is required, and that JSON is not valid', async () => {
    const missing = await send({ 'v/token': 'secret' });
    expect(problemsIn(missing.text)).toContain('Region : Choose a value.');
    const broken = await send({ ...needed, 'j/anything': '{"a": ' });
    expect([broken.status, problemsIn(broken.text)]).toEqual([
      422,
      expect.stringContaining('anything : Is not valid JSON'),
    ]);
    expect(broken.text).toContain('{&quot;a&quot;: </textarea>');
  });

  test('refuses unknown fields and text that cannot be stored', async () => {
    expect((await send({ ...needed, other: 'x' })).status).toBe(400);
    expect((await send({ ...needed, 'v/name': 'a\0b' })).status).toBe(400);
  });

  test('a form that another origin submits is refused', async () => {
    const fields = new URLSearchParams({ ...needed, shown: '1.0.0' }).toString();
    expect((await visitor.submit(path, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  });
});

describe('a secret that was entered inside another value', () => {
  const login = {
    type: 'object',
    properties: { user: { type: 'string' }, password: { type: 'string', writeOnly: true } },
    required: ['user'],
  };
  const carriedIn = (text: string) => /name="carried" value="([^"]*)"/.exec(text)?.[1] ?? '';

  test('is kept at its field while something else is wrong, and can be removed separately', async () => {
    const properties = { logins: { type: 'array', items: login }, size: { type: 'integer' } };
    const at = `/catalog/${await publish({ type: 'object', properties })}/run`;
    const key = randomUUID();
    const fields = { key, 'n/logins': '2', 'v/logins/0/user': 'ann', 'v/logins/1/user': 'bob', 'v/size': 'wrong' };
    const secrets = { 'v/logins/0/password': 'first-word', 'v/logins/1/password': 'second-word' };
    const shown = await send({ ...fields, ...secrets }, at);
    expect([shown.status, shown.text.includes('first-word')]).toEqual([422, false]);
    expect(shown.text.match(/forget:0@[^"]*/g)).toEqual(['forget:0@/logins/0/password', 'forget:0@/logins/1/password']);
    const removed = await send({ ...fields, carried: carriedIn(shown.text), do: 'forget:0@/logins/0/password' }, at);
    expect(removed.text.match(/forget:0@[^"]*/g)).toEqual(['forget:0@/logins/1/password']);
    const sent = await send({ ...fields, 'v/size': '2', carried: carriedIn(removed.text) }, at);
    const { id } = await runAt(sent.location);
    expect((await readInputs(api, id)).variables).toMatchObject({
      logins: [{ user: 'ann' }, { user: 'bob', password: 'second-word' }],
    });
    expect(JSON.stringify(await readInputs(api, id))).not.toContain('first-word');
  });
});

test('a form with a wrong instance, no environment and values that break their rules names all of them at once', async () => {
  const wrong = {
    ...needed,
    instance: 'Not a name',
    environment_id: '',
    'v/size': '12',
    'v/name': 'A1',
    'v/ratio': 'much',
  };
  const { status, text } = await send(wrong);
  expect(status).toBe(422);
  const said = problemsIn(text);
  for (const label of ['Instance', 'Environment', 'size', 'name', 'ratio']) expect(said, label).toContain(`${label} :`);
});

describe('a button inside the form', () => {
  const press = async (edit: string, fields: Fields) => {
    const answer = await send({ ...needed, ...fields, do: edit });
    expect(answer.status).toBe(200);
    return answer.text;
  };

  test('adds and removes items, and keeps the others', async () => {
    const more = await press('add:0@/ports', { 'n/ports': '1', 'v/ports/0': '80' });
    expect(more).toContain('name="n/ports" value="2"');
    expect(more).toMatch(/name="v\/ports\/0"[^>]*value="80"/);
    const less = await press('remove:0@/ports', { 'n/ports': '2', 'v/ports/0': '80', 'v/ports/1': '443' });
    expect(less).toContain('name="n/ports" value="1"');
    expect(less).toMatch(/name="v\/ports\/0"[^>]*value="443"/);
  });

  test('adds an item to an item, and a row', async () => {
    const tree = await press('add:0@/tree/children', { 'n/tree/children': '0' });
    expect(tree).toContain('name="v/tree/children/0/value"');
    const rows = await press('add:0@/labels', { 'n/labels': '0' });
    expect(rows).toContain('name="k/labels/~r0"');
  });

  test('shows the fields of another shape with what both have', async () => {
    const text = await press('show:0@/storage', { 's/storage': '1', 'p/storage': '0', 'v/storage/~s0/gb': '20' });
    expect(text).toContain('name="v/storage/~s1/name"');
    expect(text).not.toContain('name="v/storage/~s0/gb"');
  });

  test('turns a part into JSON and back into fields', async () => {
    const json = await press('json:0@/network', { 'v/network/cidr': '10.0.0.0/8' });
    expect(json).toMatch(
      /name="j\/network"[^>]*>\n\{\n {2}&quot;cidr&quot;: &quot;10\.0\.0\.0\/8&quot;\n\}<\/textarea>/,
    );
    const form = await press('form:0@/network', { 'j/network': '{"cidr": "10.1.0.0/16"}' });
    expect(form).toMatch(/name="v\/network\/cidr"[^>]*value="10\.1\.0\.0\/16"/);
    const unfit = await press('form:0@/network', { 'j/network': '{"cidr": 1, "other": 2}' });
    expect(unfit).toContain('name="j/network"');
    const words = (page: string) => /class="field-problem"[^>]*>.*?<span>(.*?)<\/span>/s.exec(page)?.[1];
    expect(words(unfit)).toBe(
      'The form has no field for other. Correct the JSON, or empty it to go back to an empty form.',
    );
    const list = await press('form:0@/network', { 'j/network': '["a"]' });
    expect(words(list)).toMatch(/^The form takes named values, .* and this is a list, /);
    expect(words(await press('form:0@/network', { 'j/network': '{"cidr": ' }))).toContain('not valid JSON');
    expect(words(await press('form:0@', { j: '{"name": ' }))).toMatch(
      /^The variables cannot be shown as a form\. .*not valid JSON/,
    );
    expect(words(await press('form:0@', { j: '[]' }))).toContain('Must be an object.');
    const emptied = await press('form:0@/network', { 'j/network': '' });
    expect(emptied).toContain('name="v/network/cidr"');
  });

  test('turns all variables but secrets into JSON, which the run then gets', async () => {
    const json = await press('json:0@', { 'v/name': 'abc' });
    expect(json).toMatch(/name="j"[^>]*>[^<]*&quot;name&quot;: &quot;abc&quot;/);
    expect(json).toMatch(/type="password"[^>]*name="v\/token"/);
    expect(json).not.toContain('secret&quot;');
    const answer = await send({ j: '{"region": "us", "size": 2}', 'v/token': 'secret', instance: 'as-json' });
    expect((await runAt(answer.location)).variables).toMatchObject({
      region: 'us',
      size: 2,
      token: { sensitive: true },
    });
    const list = await send({ j: '[]', 'v/token': 'secret' });
    expect([list.status, problemsIn(list.text)]).toEqual([422, expect.stringContaining('Must be an object.')]);
  });
});

describe('sending the form', () => {
  test('twice admits one run, and other content under the same key asks for confirmation', async () => {
    const key = randomUUID();
    const first = await send({ ...needed, instance: 'twice', key });
    expect((await send({ ...needed, instance: 'twice', key })).location).toBe(first.location);
    const other = await send({ ...needed, instance: 'once-more', key });
    expect([other.status, problemsIn(other.text)]).toEqual([409, expect.stringContaining('was submitted before')]);
    expect(other.text).not.toContain(`value="${key}"`);
  });

  test('sending the form for another version than the one of its fields first shows the fields of that version', async () => {
    const id = await publish({ type: 'object', properties: { old: { type: 'string' }, both: { type: 'string' } } });
    const spec = {
      variables: { type: 'object', properties: { fresh: { type: 'string' }, both: { type: 'string' } } },
      executor: command,
    };
    await tenant.owner.make(`/registry/templates/${id}/versions`, { version: '2.0.0', spec });
    const answer = await send(
      { shown: '1.0.0', version: '2.0.0', 'v/both': 'kept', 'v/old': 'x' },
      `/catalog/${id}/run`,
    );
    expect(answer.status).toBe(409);
    expect(problemsIn(answer.text)).toContain('The fields now belong to version 2.0.0.');
    expect(answer.text).toMatch(/name="v\/both"[^>]*value="kept"/);
    expect(answer.text).toContain('name="v/fresh"');
  });

  test('sending the form without a session shows the sign-in form, which leads back to the form', async () => {
    const stranger = new Visitor(api.app);
    const answer = await stranger.submit(path, { ...needed, 'v/token': 'typed-token', shown: '1.0.0' });
    expect(answer.status).toBe(401);
    expect(answer.text).toContain(`name="next" value="${path}"`);
    expect(answer.text).not.toContain('typed-token');
  });

  test('names the variables that the environment sets, and does not require them', async () => {
    await tenant.owner.put(`/environments/${tenant.environment}/variables/region`, {
      value: 'ap',
      category: 'template',
      sensitive: false,
    });
    const { text } = await visitor.get(`${path}?environment_id=${tenant.environment}`);
    expect(text).toContain('Development sets ap');
    const answer = await send({ 'v/token': 'secret', instance: 'given' });
    expect((await runAt(answer.location)).variables).toMatchObject({ region: 'ap' });
  });
});

describe('the form of an earlier run', () => {
  test('is filled in except for secrets, and admits a copy', async () => {
    const first = await send({ ...needed, 'v/size': '8', 'n/ports': '1', 'v/ports/0': '22', instance: 'copied' });
    const run = await runAt(first.location);
    await tenant.owner.post(`/runs/${run.id}/cancel`, { force: true });
    const from = `${path}?from=${run.id}`;
    const { text } = await visitor.get(from);
    expect(text).toMatch(/name="v\/size"[^>]*value="8"/);
    expect(text).toMatch(/name="v\/ports\/0"[^>]*value="22"/);
    expect(text).toContain('the value of the earlier run is kept');
    const same = await send(
      {
        version: '1.0.0',
        'v/region': '"eu"',
        'v/size': '8',
        'v/isPublic': 'false',
        'n/ports': '1',
        'v/ports/0': '22',
        instance: 'copied',
      },
      from,
    );
    expect(same.status, problemsIn(same.text)).toBe(303);
    expect(await runAt(same.location)).toMatchObject({
      requeued_from: run.id,
      variables: { size: 8, token: { sensitive: true } },
    });
    const changed = await send({ version: '1.0.0', 'v/region': '"us"', instance: 'copied' }, from);
    expect(changed.status, problemsIn(changed.text)).toBe(303);
    expect(await runAt(changed.location)).toMatchObject({ variables: { region: 'us', token: { sensitive: true } } });
  });
});

describe('an item or an entry that was added and left blank', () => {
  const text = { type: 'string' };
  const lists = {
    hosts: { type: 'array', items: text },
    counts: { type: 'array', items: { type: 'integer' } },
    zones: { type: 'array', items: { enum: ['a', 'b'] } },
    tags: { type: 'object', additionalProperties: text },
    pair: { type: 'array', prefixItems: [text, text], items: false },
    nested: { type: 'array', items: { type: 'object', properties: { names: { type: 'array', items: text } } } },
  };
  let at: string;
  beforeAll(async () => {
    at = `/catalog/${await publish({ type: 'object', properties: lists })}/run`;
  });

  test('is refused at its field instead of being sent as an empty text', async () => {
    const sent = await send(
      {
        ...{ 'n/hosts': '2', 'v/hosts/0': 'one', 'v/hosts/1': '' },
        ...{ 'n/counts': '1', 'v/counts/0': '', 'n/zones': '1', 'v/zones/0': '' },
        ...{ 'n/tags': '2', 'k/tags/~r0': 'team', 'v/tags/~r0': '', 'k/tags/~r1': '', 'v/tags/~r1': 'x' },
        ...{ 'v/pair/0': 'x', 'v/pair/1': '', 'n/nested': '1', 'n/nested/0/names': '1', 'v/nested/0/names/0': '' },
      },
      at,
    );
    expect(sent.status).toBe(422);
    const summary = problemsIn(sent.text);
    for (const problem of [
      'hosts 2 : Enter a value, or remove the item.',
      'counts 1 : Enter a value, or remove the item.',
      'zones 1 : Choose a value, or remove the item.',
      'tags / team : Enter a value, or remove the entry.',
      'Enter a name, or remove the entry.',
      'pair 2 : Enter a value.',
      'nested 1 / names 1 : Enter a value, or remove the item.',
    ])
      expect(summary).toContain(problem);
    expect(summary).not.toContain('hosts 1');
  });

  test('is refused together with the required variables that are still missing', async () => {
    const required = { ...lists, name: text, size: { type: 'integer', default: 1 } };
    const schema = { type: 'object', properties: required, required: ['name', 'size', 'hosts'] };
    const sent = await send({ 'n/hosts': '1', 'v/hosts/0': '' }, `/catalog/${await publish(schema)}/run`);
    expect(sent.status).toBe(422);
    const summary = problemsIn(sent.text);
    expect(summary).toContain('hosts 1 : Enter a value, or remove the item.');
    expect(summary).toContain('name : Enter a value.');
    expect(summary).not.toContain('size');
    expect(summary).not.toContain('hosts :');
  });

  test('is accepted in a tuple that is blank as a whole, and an empty text can be sent as JSON', async () => {
    const fields = { 'n/hosts': '1', 'j/hosts/0': '""', 'v/pair/0': '', 'v/pair/1': '', 'j/tags': '{"": ""}' };
    const sent = await send(fields, at);
    expect(sent.status, problemsIn(sent.text)).toBe(303);
    const run = await runAt(sent.location);
    expect(run.variables).toEqual({ hosts: [''], tags: { '': '' } });
    await tenant.owner.post(`/runs/${run.id}/cancel`, { force: true });
    const copied = await visitor.get(`${at}?from=${run.id}`);
    expect(copied.text).toMatch(/name="j\/hosts\/0"[^>]*>\s*&quot;&quot;<\/textarea>/);
    expect(copied.text).toMatch(/name="j\/tags"/);
  });
});

describe('a value beside a default or a given value', () => {
  const text = { type: 'string' };
  const properties = {
    hosts: { type: 'array', items: text, default: ['a', 'b'] },
    none: { type: 'array', items: text, default: [] },
    tags: { type: 'object', additionalProperties: text, default: { team: 'core' } },
    net: { type: 'object', properties: { a: text, b: text }, default: { a: '1', b: '2' } },
    zones: { type: 'array', uniqueItems: true, items: { enum: ['x', 'y'] }, default: ['x'] },
    given: { type: 'array', items: text },
  };

  test('is replaced by what is entered, as its field says', async () => {
    const at = `/catalog/${await publish({ type: 'object', properties })}/run`;
    const variable = { name: 'given', value: ['c'], category: 'template', sensitive: false };
    await tenant.owner.put(`/environments/${tenant.environment}/variables/given`, variable);
    const hintOf = (page: string, name: string) =>
      new RegExp(`id="field-[gv][^"]*${name}-hint">.*?</div>`, 's').exec(page)?.[0].replaceAll(/<[^>]+>/g, '') ?? '';
    const { text: before } = await visitor.get(`${at}?environment_id=${tenant.environment}`);
    for (const name of ['hosts', 'none', 'tags', 'given']) expect(hintOf(before, name)).not.toContain('replace');
    expect(hintOf(before, 'net')).toContain('What you enter replaces the default as a whole');
    expect(hintOf(before, 'zones')).toContain('What you choose replaces the default as a whole');
    const counts = { 'n/hosts': '1', 'n/none': '1', 'n/tags': '1', 'n/given': '0' };
    const { text } = await send({ ...counts, do: 'add:0@/given' }, at);
    expect(hintOf(text, 'hosts')).toContain('Your items replace the default');
    expect(hintOf(text, 'tags')).toContain('Your entries replace the default');
    expect(hintOf(text, 'given')).toMatch(/sets .*Your items replace this value/);
    expect(hintOf(text, 'none')).not.toContain('replace');
    await tenant.owner.delete(`/environments/${tenant.environment}/variables/given`);
  });
});

describe('a map with a default', () => {
  test('is filled in with the entries of the default', async () => {
    const tags = { type: 'object', additionalProperties: { type: 'string' }, default: { team: 'core', cost: '42' } };
    const id = await publish({ type: 'object', properties: { tags } });
    const at = `/catalog/${id}/run`;
    const { text } = await visitor.get(at);
    const [, edit = ''] = /value="(default:[^"]*)"[^>]*>Change the default/.exec(text) ?? [];
    const started = await send({ 'n/tags': '0', do: edit }, at);
    expect(started.status, started.text).toBe(200);
    const keys = [...started.text.matchAll(/name="(k\/[^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]);
    expect(keys.map(([, value]) => value)).toEqual(['cost', 'team']);
    expect(started.text).not.toContain('>Change the default');
    const values = [...started.text.matchAll(/name="(v\/tags\/[^"]*)"[^>]*value="([^"]*)"/g)].map(
      ([, name]) => name ?? '',
    );
    const entries = { 'n/tags': '2', [keys[0]?.[0] ?? '']: 'cost', [keys[1]?.[0] ?? '']: 'team' };
    const sent = await send({ ...entries, [values[0] ?? '']: '42', [values[1] ?? '']: 'edge' }, at);
    expect((await runAt(sent.location)).variables.tags).toEqual({ team: 'edge', cost: '42' });
  });
});

describe('a hostile schema', () => {
  test('is shown as text, in limited size', async () => {
    const hostile = '"><script>alert(1)</script>\u202e';
    const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`p${index}`, { type: 'string' }]));
    let deep: object = { type: 'string' };
    for (let level = 0; level < 20; level += 1) deep = { type: 'object', properties: { inner: deep } };
    const id = await publish({
      type: 'object',
      properties: {
        named: {
          type: 'string',
          title: hostile,
          description: hostile,
          default: hostile,
          examples: [hostile],
          pattern: '<script>',
        },
        chosen: { enum: [hostile, 'a', 'b', 'c', 'd'] },
        wide: { type: 'object', properties: wide },
        deep,
        many: { enum: Array.from({ length: 2000 }, (_, index) => index) },
      },
    });
    const { status, text } = await visitor.get(`/catalog/${id}/run`);
    expect(status).toBe(200);
    expect(text).not.toContain('<script>');
    expect(text).toContain('name="j/wide"');
    expect(text.length).toBeLessThan(100_000);
  });
});
