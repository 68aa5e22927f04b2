import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RootAccess, verifyRoots } from '#domain/plugins/restorations/roots-store.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import {
  addPluginTables,
  codeOf,
  deleteResource,
  pluginSchemas,
  zones,
} from '#test/support/plugins/deleted-resource.ts';
import { carryOutRestorations } from '#test/support/plugins/restoring.ts';

let api: TestApi;
let access: RootAccess;
let engine: { stop(): Promise<void> };

beforeAll(async () => {
  api = await startApi();
  const { orm, transactions, installation } = api.services;
  access = { schemas: pluginSchemas, databaseUrl: await addPluginTables(api) };
  engine = carryOutRestorations({ orm, transactions, bindingKey: installation.bindingKey, pluginRoots: access });
});
afterAll(async () => {
  await engine?.stop();
  await api?.close();
});

const inDns = (table: string, key = 'id') => ({ schema: 'dns', table, key });

describe('the roots of a resource', () => {
  it('are found whatever characters their names have', async () => {
    const root = { schema: 'Odd "names"', table: 'a table; --', key: 'the "key"' };
    const key = `it's "quoted"; drop table runs`;
    const stage = await deleteResource(api, { root, key });
    const refused = await stage.root.restore(stage.resource);
    expect(codeOf(refused)).toEqual([409, 'plugin_root_missing']);
    expect(refused.body.error).toContain(
      `the root Odd "names".a table; -- is missing: it has no row whose column "the "key"" is`,
    );
    await api.rows(`insert into "Odd ""names"""."a table; --" values (?)`, [key]);
    expect((await stage.root.restore(stage.resource)).status).toBe(200);
  });

  it.each([
    [
      { schema: 'hidden', table: 'zones', key: 'id' },
      [503, 'unavailable'],
      /SCHEMAS does not name the schema "hidden"/,
    ],
    [inDns('zones', 'name'), [409, 'plugin_root_missing'], /the root dns\.zones is missing: it has no column "name"/],
  ] as const)('restoring a resource with the root %o answers %o', async (root, expected, why) => {
    const stage = await deleteResource(api, { root });
    const answer = await stage.root.restore(stage.resource);
    expect([codeOf(answer), answer.body.error]).toEqual([expected, expect.stringMatching(why)]);
    expect(answer.body.outcome).toBeUndefined();
  });

  const shapes: readonly [name: string, definition: string, root: typeof zones, kind: string, why: RegExp][] = [
    ['no row', '', zones, 'missing', /^it has no row whose column "id" is "x"$/],
    ['no table', '', inDns('nothing'), 'missing', /^the schema "dns" has no table "nothing"$/],
    ['a view', 'create view dns.v1 as select 1 as id', inDns('v1'), 'unverified', /^it is a view, not a table$/],
    [
      'a materialized view',
      'create materialized view dns.v2 as select 1 as id',
      inDns('v2'),
      'unverified',
      /^it is a materialized view/,
    ],
    ['a sequence', 'create sequence dns.v3', inDns('v3', 'last_value'), 'unverified', /^it is a sequence/],
    [
      'a key that cannot be compared',
      'create table dns.v4 (id json)',
      inDns('v4'),
      'unverified',
      /^values of the type of its column "id" cannot be compared$/,
    ],
  ];
  it.each(shapes)(
    'roots that are %s are refused, and the error has this as its reason',
    async (_name, definition, root, kind, why) => {
      for (const statement of definition.split('; ')) if (statement) await api.rows(statement);
      await api.rows(`grant select on all tables in schema dns to ${readerRole()}`);
      const found = await verifyRoots(access, { roots: [root], key: 'x' });
      expect(found).toMatchObject({ kind, root, why: expect.stringMatching(why) });
    },
  );

  it.each([
    ['uuid', '0b5e2b0e-6e0f-4a63-8a5c-1f2d3c4b5a69', ['0B5E2B0E-6E0F-4A63-8A5C-1F2D3C4B5A69', '{KEY}']],
    ['int', '7', ['007', ' 7', '+7']],
    ['name', 'n'.repeat(63), [`${'n'.repeat(63)} and more`]],
    ['text collate dns.caseless', 'Zone', ['zone', 'ZONE']],
  ])('roots with a key of the type %s match only the exact key', async (type, key, others) => {
    const [table] = `spelled_${type}`.split(' ');
    await api.rows(
      `create collation if not exists dns.caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
    );
    await api.rows(`create table dns.${table} (id ${type})`);
    await api.rows(`insert into dns.${table} values (?)`, [key]);
    await api.rows(`grant select on dns.${table} to ${readerRole()}`);
    const find = (spelling: string) => verifyRoots(access, { roots: [inDns(table ?? '')], key: spelling });
    expect(await find(key)).toEqual({ kind: 'intact' });
    for (const other of others) expect(await find(other.replace('KEY', key)), other).toMatchObject({ kind: 'missing' });
  });

  it('roots in a schema or table that the role may not read give an error with the missing privilege', async () => {
    await api.rows('create schema later');
    await api.rows('create table later.zones (id text)');
    const schemas = [...pluginSchemas, 'later'];
    const ask = () => verifyRoots({ ...access, schemas }, { roots: [{ ...zones, schema: 'later' }], key: 'x' });
    expect(await ask()).toMatchObject({ why: expect.stringMatching(/may not use the schema "later": grant it USAGE/) });
    await api.rows(`grant usage on schema later to ${readerRole()}`);
    expect(await ask()).toMatchObject({ why: expect.stringMatching(/may not read it: grant it USAGE .*SELECT/) });
    await api.rows(`grant select on later.zones to ${readerRole()}`);
    expect(await ask()).toMatchObject({ kind: 'missing' });
    await api.rows(`revoke all on later.zones from ${readerRole()}`);
    await api.rows(`revoke all on schema later from ${readerRole()}`);
  });

  /** Functions of a plugin's tables would run with the rights of the role that reads them. Each of these leaves a trace if it does. */
  const traps: readonly [name: string, definition: string, why: RegExp][] = [
    [
      'a type with a check of its own',
      'create domain dns.trapped as text check (dns.spring(value)); create table dns.trap0 (id dns.trapped)',
      /does not come with PostgreSQL/,
    ],
    [
      'row security',
      `create table dns.trap1 (id text); alter table dns.trap1 enable row level security, force row level security;
       create policy p on dns.trap1 using (dns.spring(id))`,
      /it has row security/,
    ],
    [
      'an index with a condition',
      `create table dns.trap2 (id text); create index on dns.trap2 (id) where dns.spring('x')`,
      /an index with an expression or a condition/,
    ],
    [
      'an index on an expression',
      'create table dns.trap3 (id text); create index on dns.trap3 (dns.spring(id))',
      /an index with an expression or a condition/,
    ],
    [
      'statistics of an expression',
      'create table dns.trap4 (id text); create statistics on (dns.spring(id)), id from dns.trap4',
      /statistics with an expression/,
    ],
    [
      'a partition key with an expression',
      `create table dns.trap5 (id text) partition by list ((dns.spring(id)));
       create table dns.trap5_part partition of dns.trap5 for values in (true)`,
      /it has partitions, or is one/,
    ],
    [
      'an own check as a partition',
      `create table dns.trap6_all (id text) partition by list (id);
       create table dns.trap6 partition of dns.trap6_all (check (dns.spring('x'))) for values in ('x')`,
      /it has partitions, or is one/,
    ],
    [
      'children by inheritance',
      `create table dns.trap7 (id text); create table dns.trap7_child (check (dns.spring('x'))) inherits (dns.trap7)`,
      /children by inheritance/,
    ],
    [
      'a generated key',
      'create table dns.trap8 (name text, id text generated always as (dns.spell(name)) stored)',
      /a generated key/,
    ],
    [
      'a rule',
      'create table dns.trap9 (id text); create rule r as on insert to dns.trap9 do also select dns.spring(new.id)',
      /it has rules/,
    ],
  ];

  it.each(traps.map((trap, index) => [...trap, `trap${index}`] as const))(
    'roots that have %s run no function of the plugin, and cannot be verified',
    async (_name, definition, why, table) => {
      await api.rows('create sequence if not exists dns.sprung');
      await api.rows(`create or replace function dns.spring(text) returns boolean language plpgsql immutable as
        $$ begin perform nextval('dns.sprung'); return true; end $$`);
      await api.rows(`create or replace function dns.spell(text) returns text language plpgsql immutable as
        $$ begin perform nextval('dns.sprung'); return $1; end $$`);
      await api.rows(definition);
      const before = await api.rows('select last_value, is_called from dns.sprung');
      const found = await verifyRoots(access, { roots: [inDns(table)], key: 'x' });
      expect(found).toMatchObject({ kind: 'unverified', why: expect.stringMatching(why) });
      expect(await api.rows('select last_value, is_called from dns.sprung')).toEqual(before);
    },
  );

  it('do not match another key if the column is too short for it', async () => {
    await api.rows('create table dns.short (id varchar(3))');
    await api.rows(`insert into dns.short values ('abc')`);
    await api.rows(`grant select on dns.short to ${readerRole()}`);
    expect(await verifyRoots(access, { roots: [inDns('short')], key: 'abcdef' })).toMatchObject({ kind: 'missing' });
    expect(await verifyRoots(access, { roots: [inDns('short')], key: 'abc' })).toEqual({ kind: 'intact' });
  });

  it("are missing if the key is not a value of the column's type", async () => {
    const { root, resource } = await deleteResource(api, { key: 'not a uuid', isThere: false });
    expect(codeOf(await root.restore(resource))).toEqual([409, 'plugin_root_missing']);
  });

  it('roots that cannot be read within the time limit make the restoration answer 503', async () => {
    const { root, resource } = await deleteResource(api);
    const answer = await whileLocked('dns.zones', () => root.restore(resource));
    expect([answer.status, answer.body.error]).toEqual([
      503,
      expect.stringMatching(/dns\.zones .*took longer than 2 s/),
    ]);
    expect((await root.restore(resource)).status).toBe(200);
  });

  it('have one time limit together, and the error names the root at which it expired', async () => {
    const key = randomUUID();
    await api.rows('create table dns.slow (id uuid)');
    await api.rows(`grant select on dns.slow to ${readerRole()}`);
    await api.rows('insert into dns.zones values (?)', [key]);
    const begun = Date.now();
    const roots = [zones, inDns('slow'), inDns('nothing')];
    const found = await whileLocked('dns.slow', () => verifyRoots(access, { roots, key }, 1_000));
    expect(found).toEqual({
      kind: 'unverified',
      root: inDns('slow'),
      why: 'all roots together took longer than 1 s, so this one and those after it were not looked at to the end',
    });
    expect(Date.now() - begun).toBeLessThan(15_000);
  });
});

function readerRole(): string {
  return new URL(access.databaseUrl ?? '').username;
}

/** Does something while nobody can read a table. */
async function whileLocked<Result>(table: string, act: () => Promise<Result>): Promise<Result> {
  const em = api.services.orm.em.fork();
  await em.begin();
  try {
    await em.execute(`lock table ${table} in access exclusive mode`);
    return await act();
  } finally {
    await em.rollback();
  }
}
