import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TemplateCheck } from '#domain/registry/checks/entity.ts';
import { openDatabase } from '#open-database';
import { type System, startSystem } from '#test/support/system.ts';
import { commands } from '#test/support/templates.ts';

let system: System;
let made = 0;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(async () => {
  await system?.close();
});

async function makeTemplate(more: object = {}): Promise<string> {
  const { status, body, text } = await system.administrator.post('/registry/templates', {
    name: `Checked ${made++}`,
    ...more,
  });
  expect(status, text).toBe(201);
  return `/registry/templates/${body.id}`;
}

const opentofu = (files: Record<string, string>, more: object = {}) => ({
  executor: { kind: 'opentofu', files },
  ...more,
});
/** Each file is valid by itself, and only the tool knows the outputs of the module. */
const lacking = {
  'main.tf': 'module "net" { source = "./net" }\noutput "a" {\n  value = module.net.cidr\n}\n',
  'net/main.tf': 'output "other" { value = 1 }\n',
};

async function countOpen(): Promise<number> {
  const orm = openDatabase({ databaseUrl: system.database.url, databasePoolSize: 1 });
  return orm.em
    .fork()
    .count(TemplateCheck, {})
    .finally(() => orm.close());
}

describe('a publication', () => {
  it('is refused with the errors of the tool in the sandbox, with file and line', async () => {
    const path = await makeTemplate();
    const refused = await system.administrator.post(
      `${path}/versions`,
      { version: '1.0.0', spec: opentofu(lacking) },
      { accept: 'application/problem+json' },
    );
    expect(refused.status, refused.text).toBe(422);
    expect(JSON.parse(refused.text)).toMatchObject({
      code: 'configuration_invalid',
      errors: [
        {
          in: 'body',
          path: 'spec.executor',
          file: 'main.tf',
          line: 3,
          message: expect.stringMatching(/Unsupported attribute/),
        },
      ],
    });
    expect((await system.administrator.get(`${path}/versions`)).body.versions).toEqual([]);
    expect(await countOpen()).toBe(0);
  });

  it('stores the tool, the warnings and what could not be fetched with the version', async () => {
    const path = await makeTemplate();
    const files = {
      'main.tf': 'module "far" {\n  source = "git::https://127.0.0.1:1/far.git"\n}\nvariable "site" {}\n',
    };
    const published = await system.administrator.post(`${path}/versions`, { version: '1.0.0', spec: opentofu(files) });
    expect(published.status, published.text).toBe(201);
    expect(published.body.check).toMatchObject({
      state: 'passed',
      tool: { name: expect.stringMatching(/opentofu|terraform/), version: expect.any(String) },
      errors: [],
      warnings: [
        { path: '/variables', file: 'main.tf', line: 4, message: expect.stringMatching(/"site" needs a value/) },
      ],
      not_checked: [expect.stringMatching(/Failed to download module/)],
    });
    expect((await system.administrator.get(`${path}/versions/1.0.0`)).body.check).toEqual(published.body.check);
    const again = await system.administrator.post(`${path}/versions`, { version: '1.0.0', spec: opentofu(files) });
    expect(again).toMatchObject({ status: 200, body: { check: published.body.check } });
    expect(await countOpen()).toBe(0);
  });

  it('warns of steps whose programs the worker does not have', async () => {
    const path = await makeTemplate();
    const spec = commands({ greet: 'true' });
    const steps = [...spec.executor.apply, { name: 'cloud', run: ['no-such-cloud-tool', 'up'] }];
    const published = await system.administrator.post(`${path}/versions`, {
      version: '1.0.0',
      spec: { executor: { ...spec.executor, apply: steps } },
    });
    expect(published.body.check, published.text).toMatchObject({
      state: 'passed',
      tool: null,
      warnings: [
        { path: '/executor/apply/1/run/0', message: expect.stringMatching(/has no program "no-such-cloud-tool"/) },
      ],
    });
  });

  it('is not checked, with a reason, if the output of the tool is too large', async () => {
    const path = await makeTemplate();
    // Each error repeats the whole line. The names are long, so that few errors are enough: the tool takes long to make each.
    const names = Array.from({ length: 100 }, (_, index) => `local.x${index}${'x'.repeat(1_000)}`);
    const files = { 'main.tf': `output "a" {\n  value = [${names.join(',')}]\n}\n` };
    const published = await system.administrator.post(`${path}/versions`, { version: '1.0.0', spec: opentofu(files) });
    expect(published.status, published.text).toBe(201);
    expect(published.body.check).toMatchObject({
      state: 'not_done',
      errors: [],
      not_checked: [expect.stringMatching(/could not be made: the tool said more .* than can be read/)],
    });
    expect(await countOpen()).toBe(0);
  });

  it('is not checked, with a reason, without a worker of the pool', async () => {
    const path = await makeTemplate();
    const published = await system.administrator.post(`${path}/versions`, {
      version: '1.0.0',
      spec: opentofu(lacking, { pool: 'elsewhere' }),
    });
    expect(published.status, published.text).toBe(201);
    expect(published.body.check).toMatchObject({
      state: 'not_done',
      tool: null,
      errors: [],
      not_checked: [expect.stringMatching(/no worker of the pool "elsewhere"/)],
    });
  });

  it('is checked later, once there is a worker', async () => {
    const path = await makeTemplate();
    await system.stopWorker();
    const published = await system.administrator.post(`${path}/versions`, {
      version: '1.0.0',
      spec: opentofu(lacking),
    });
    expect(published.body.check, published.text).toMatchObject({ state: 'not_done' });
    await system.startWorker();
    const readCheck = async () => (await system.administrator.get(`${path}/versions/1.0.0`)).body.check;
    await expect.poll(async () => (await readCheck()).state, { timeout: 90_000, interval: 500 }).toBe('failed');
    expect(await readCheck()).toMatchObject({ errors: [{ file: 'main.tf', line: 3 }], not_checked: [] });
  }, 120_000);
});

describe('a check without a publication', () => {
  it('returns what a publication would find, and stores nothing', async () => {
    const path = await makeTemplate();
    const before = await countOpen();
    const found = await system.administrator.post(`${path}/versions/check`, { spec: opentofu(lacking) });
    expect(found, found.text).toMatchObject({
      status: 200,
      body: {
        valid: false,
        state: 'failed',
        errors: [{ path: '/executor', file: 'main.tf', line: 3 }],
        not_checked: [],
      },
    });
    expect(await countOpen()).toBe(before);
    expect((await system.administrator.get(`${path}/versions`)).body.versions).toEqual([]);
  });

  it("returns the worker's warnings as a publication stores them", async () => {
    const path = await makeTemplate();
    const { executor } = commands({ greet: 'true' });
    const steps = [...executor.apply, { name: 'cloud', run: ['no-such-cloud-tool', 'up'] }];
    const spec = { executor: { ...executor, apply: steps } };
    const checked = await system.administrator.post(`${path}/versions/check`, { spec });
    expect(checked.body, checked.text).toMatchObject({
      valid: true,
      state: 'passed',
      warnings: [
        { path: '/executor/apply/1/run/0', message: expect.stringMatching(/has no program "no-such-cloud-tool"/) },
      ],
    });
    const published = await system.administrator.post(`${path}/versions`, { version: '1.0.0', spec });
    expect(published.body.check.warnings).toEqual(checked.body.warnings);
  });
});
