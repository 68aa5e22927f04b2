import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { sendAtOnce } from '#test/support/api/at-once.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate, saveDraft } from '#test/support/assemblies/assemblies.ts';

let api: TestApi;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
});
afterAll(() => api?.close());

const yaml = '# Two services\nnodes:\n  network: {template: network}\n';

describe('a draft', () => {
  it('keeps its text with comments, and the parsed value', async () => {
    const path = await addAssembly(tenant);
    expect(await tenant.owner.get(`${path}/draft`)).toMatchObject({
      status: 404,
      body: { error: expect.stringContaining('the assembly has no draft') },
    });
    const saved = await saveDraft(tenant.owner, path, yaml);
    expect(saved.body).toMatchObject({
      revision: 1,
      source: yaml,
      spec: { nodes: { network: { template: 'network' } } },
      changed_by: { id: tenant.owner.id },
    });
    expect(saved.headers['etag']).toBe('"1"');
    expect((await tenant.owner.get(`${path}/draft`)).body).toEqual(saved.body);
    expect((await tenant.owner.get(path)).body.revision).toBe(1);
  });

  it('may be sent as an object or as JSON, even if it is not valid', async () => {
    const path = await addAssembly(tenant);
    const spec = { nodes: 'none', more: [1, true, null] };
    expect((await saveDraft(tenant.owner, path, spec)).body).toMatchObject({ revision: 1, spec });
    const compact = JSON.stringify(spec);
    expect((await saveDraft(tenant.owner, path, compact)).body).toMatchObject({ revision: 2, source: compact, spec });
  });

  it('has its own revision, which the same text does not increase, and a stale change answers 409', async () => {
    const path = await addAssembly(tenant);
    const save = (spec: unknown, expected_revision?: number) =>
      tenant.owner.put(`${path}/draft`, { spec, ...(expected_revision !== undefined && { expected_revision }) });
    expect((await save(yaml, 1)).headers['x-error-code']).toBe('stale_revision');
    expect((await save(yaml, 0)).body.revision).toBe(1);
    expect((await save(yaml, 1)).body.revision).toBe(1);
    expect((await save(`${yaml}# more\n`, 1)).body.revision).toBe(2);
    expect(await save(yaml, 1)).toMatchObject({ status: 409, body: { error: expect.stringContaining('1 is stale') } });
    const stale = await tenant.owner.send('PUT', `${path}/draft`, { spec: yaml }, { 'if-match': '"1"' });
    expect([stale.status, stale.headers['x-error-code']]).toEqual([409, 'stale_revision']);
  });

  it('is saved by one of 50 concurrent changes of the same revision', async () => {
    const path = await addAssembly(tenant, yaml);
    const answers = await sendAtOnce(50, (index) =>
      tenant.owner.put(`${path}/draft`, { spec: `${yaml}# ${index}\n`, expected_revision: 1 }),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49);
    expect((await tenant.owner.get(`${path}/draft`)).body.revision).toBe(2);
  });
});

describe('a draft whose text cannot be read', () => {
  it.each([
    ['YAML with a wrong indentation', 'nodes:\n  a: {template: x}\n b: 1\n', 3],
    ['JSON that ends early', '{"nodes": {\n', 2],
    ['a name that is used twice', 'nodes:\n  a: 1\n  a: 2\n', 3],
  ])('answers 422 with line and column: %s', async (_what, spec, line) => {
    const path = await addAssembly(tenant);
    const answer = await tenant.owner.send('PUT', `${path}/draft`, { spec }, { accept: 'application/problem+json' });
    expect([answer.status, answer.headers['x-error-code']], answer.text).toEqual([422, 'draft_unreadable']);
    const problem = JSON.parse(answer.text);
    expect(problem.detail).toMatch(/^spec: line \d+, column \d+: /);
    expect(problem.errors).toEqual([
      { in: 'body', path: 'spec', message: expect.any(String), line: expect.any(Number), column: expect.any(Number) },
    ]);
    expect(problem.errors[0].line).toBeGreaterThanOrEqual(line - 1);
    expect((await tenant.owner.get(`${path}/draft`)).status).toBe(404);
  });
});

describe('a save for a stale revision', () => {
  it('answers 409 even if its text cannot be read', async () => {
    const path = await addAssembly(tenant, { nodes: {} });
    const answer = await tenant.owner.put(`${path}/draft`, { spec: 'a: [', expected_revision: 7 });
    expect([answer.status, answer.headers['x-error-code']]).toEqual([409, 'stale_revision']);
  });
});

describe('a hostile draft', () => {
  const aliases = `a: &a [${'x,'.repeat(9)}x]\n${'bcdefghi'
    .split('')
    .map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(9)}*${'abcdefgh'[index]}]\n`)
    .join('')}`;
  const hostile: [what: string, spec: unknown][] = [
    ['aliases that multiply', aliases],
    ['an alias of itself', 'a: &a\n  b: *a\n'],
    ['brackets without end', '['.repeat(100_000)],
    ['maps without end', 'a: '.repeat(50_000)],
    ['a tag that would make an object', '!!js/function "function(){}"'],
    [
      'names of prototypes in an object',
      JSON.parse('{"__proto__": {"nodes": {}}, "constructor": 1, "nodes": {"__proto__": {}}}'),
    ],
    ['names of prototypes in YAML', '__proto__:\n  polluted: yes\nconstructor: 1\nnodes: {__proto__: {template: x}}\n'],
    ['half a surrogate pair', 'a: "\\ud800"\n'],
    ['a NUL', 'a: "\\0"\n'],
    ['numbers beyond all bounds', 'a: 1e999\nb: .nan\nc: -.inf\n'],
    ['nearly a MiB of text', `a: "${'x'.repeat(1_000_000)}"\n`],
    ['nearly a MiB of items', `[${'1,'.repeat(490_000)}1]`],
    ['nothing', ''],
    ['only a comment', '# nothing\n'],
    ['several documents', 'a: 1\n---\nb: 2\n'],
  ];

  it.each(hostile)(
    'is stored or refused in little time, and validated without a failure: %s',
    { timeout: 60_000 },
    async (_what, spec) => {
      const path = await addAssembly(tenant);
      const saved = await tenant.owner.put(`${path}/draft`, { spec });
      expect([200, 400, 422], saved.text.slice(0, 500)).toContain(saved.status);
      if (saved.status === 200) expect((await tenant.owner.get(`${path}/draft`)).status).toBe(200);
      const validated = await tenant.owner.post(`${path}/validate`, { spec });
      expect([200, 400, 422], validated.text.slice(0, 500)).toContain(validated.status);
      if (validated.status === 200) expect(validated.body.valid).toBe(false);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );

  it('a hostile draft of more than a MiB is refused as too large', async () => {
    const path = await addAssembly(tenant);
    const answer = await tenant.owner.put(`${path}/draft`, { spec: `# ${'x'.repeat(1_100_000)}\n` });
    expect(answer.status).toBe(413);
  });
});

describe('validation', () => {
  it('reports everything at once, each with its path and its line', async () => {
    const { slug } = await addTemplate(tenant.owner, { team: tenant.team });
    const spec = [
      'nodes:',
      '  a:',
      `    template: ${slug}`,
      '    variables: {count: none}',
      '    depends_on: [b]',
      '  b:',
      '    template: missing',
      '    variables: {x: "${nodes.a.outputs.cidr}"}',
      '',
    ].join('\n');
    const path = await addAssembly(tenant);
    const { status, body, text } = await tenant.owner.post(`${path}/validate`, { spec });
    expect([status, body.valid], text).toEqual([200, false]);
    const at = Object.fromEntries(body.errors.map((each: { path: string; line: number }) => [each.path, each.line]));
    expect(at).toMatchObject({ '/nodes/a/variables/count': 4, '/nodes/b/template': 7 });
    expect(text).toContain('a → b → a');
  });

  it('checks the draft if the request has no spec, and answers 409 if there is no draft', async () => {
    const { id } = await addTemplate(tenant.owner, { team: tenant.team });
    const path = await addAssembly(tenant);
    expect((await tenant.owner.post(`${path}/validate`)).headers['x-error-code']).toBe('draft_missing');
    await saveDraft(tenant.owner, path, { nodes: { a: { template: id } } });
    for (const body of [undefined, {}])
      expect(await tenant.owner.post(`${path}/validate`, body)).toMatchObject({
        status: 200,
        body: { valid: true, errors: [], warnings: [] },
      });
  });

  it('says at which line a text cannot be read', async () => {
    const path = await addAssembly(tenant);
    const { status, body } = await tenant.owner.post(`${path}/validate`, { spec: 'nodes: [\n' });
    expect(status).toBe(200);
    expect(body).toEqual({
      valid: false,
      warnings: [],
      errors: [{ path: '', message: expect.any(String), line: expect.any(Number), column: expect.any(Number) }],
    });
  });
});
