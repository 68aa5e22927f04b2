import { describe, expect, it, vi } from 'vitest';

// The number of prepared statements is limited, and other test files in this process have prepared many.
vi.resetModules();
const { toStatement, toStatementOfMikroOrm } = await import('#database/statements.ts');

describe('a statement with numbered placeholders', () => {
  it('has its values separately from its text, each in the form of the driver', () => {
    const time = new Date('2026-11-21T10:00:00Z');
    const bytes = Buffer.from([1]);
    const parameters = ['a', 1, true, 2n, null, undefined, time, bytes, { a: 1 }, ['x', 'y']];
    const { text, values } = toStatement('select $1', parameters);
    expect(text).toBe('select $1');
    expect(values).toEqual(['a', 1, true, '2', null, null, time.toISOString(), bytes, '{"a":1}', ['x', 'y']]);
  });

  it('refuses a value that PostgreSQL cannot represent', () => {
    expect(() => toStatement('select $1', [() => 1])).toThrow('a function cannot be a parameter of a statement');
  });

  it('is prepared under one name for its text', () => {
    const { name } = toStatement('select id from runs where id = $1', ['a']);
    expect(name).toEqual(expect.any(String));
    expect(toStatement('select id from runs where id = $1', ['b']).name).toBe(name);
    expect(toStatement('select id from runs where pool = $1', ['b']).name).not.toBe(name);
  });

  it('is not prepared if it returns all columns, which a migration may change', () => {
    for (const all of ['select * from runs', 'select id, "r".* from runs as "r"', 'delete from runs returning *'])
      expect(toStatement(all, []).name, all).toBeUndefined();
    for (const some of ['select count(*) from runs', 'select 2 * size from runs'])
      expect(toStatement(some, []).name, some).toBeDefined();
  });
});

describe('a statement of MikroORM', () => {
  it('gets numbered placeholders for its question marks', () => {
    const statement = toStatementOfMikroOrm('select a \\? b from t where c = ? and d = ?', [1, 'x']);
    expect(statement).toMatchObject({ text: 'select a ? b from t where c = $1 and d = $2', values: [1, 'x'] });
  });

  it('names the columns of an entity that it reads as a whole, and so is prepared', () => {
    const columnsOf = (table: string) => (table === 'runs' ? ['id', 'pool'] : undefined);
    const of = (table: string) =>
      toStatementOfMikroOrm(`select "r0".* from "${table}" as "r0" where "r0"."id" = ? for update`, ['a'], columnsOf);
    expect(of('runs')).toEqual({
      name: expect.any(String),
      text: 'select "r0"."id", "r0"."pool" from "runs" as "r0" where "r0"."id" = $1 for update',
      values: ['a'],
    });
    expect(of('others')?.name).toBeUndefined();
    expect(of('others')?.text).toContain('"r0".*');
  });

  it('is left to MikroORM if a value cannot be bound', () => {
    expect(toStatementOfMikroOrm('select 1 where a in (?)', [[1, 2]])).toBeUndefined();
    expect(toStatementOfMikroOrm('select ?? from t', ['a'])).toBeUndefined();
    expect(toStatementOfMikroOrm('select ?', [1, 2])).toBeUndefined();
    expect(toStatementOfMikroOrm('select 1', [])).toBeUndefined();
  });
});
