import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { findForChange, lockForChange, readForChange } from '#database/row-lock.ts';
import { Organization } from '#domain/organizations/entity.ts';
import { newId } from '#domain/shared/ids.ts';
import { saveChange } from '#domain/shared/revisions.ts';
import { openDatabase } from '#open-database';
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts';

let database: TestDatabase;
let orm: Orm;
beforeAll(async () => {
  database = await createDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 3 });
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

/** Reads an organization in a transaction, then renames it in another one, and lets the first go on. */
async function whileRenamed(work: (em: Orm['em'], id: string) => Promise<void>): Promise<unknown> {
  const id = newId();
  const em = orm.em.fork();
  await em.persist(em.create(Organization, { id, name: 'Early', slug: id })).flush();
  await orm.em.fork().transactional(async (tx) => {
    await tx.findOneOrFail(Organization, { id });
    await orm.em.fork().execute(`update organizations set name = 'Late', revision = 7 where id = ?`, [id]);
    await work(tx, id);
  });
  const [row] = await orm.em.fork().execute('select name, revision from organizations where id = ?', [id]);
  return row;
}

describe('an entity that the transaction read before another one changed its row', () => {
  it.each([
    ['lockForChange', lockForChange],
    ['findForChange', findForChange],
    ['readForChange', readForChange],
  ])('is read again by %s, and writes a value that equals the earlier one', async (_name, read) => {
    const row = await whileRenamed(async (em, id) => {
      const found = await read(em, Organization, { id });
      expect(found).toMatchObject({ name: 'Late', revision: 7 });
      if (found) found.name = 'Early';
    });
    expect(row).toEqual({ name: 'Early', revision: 7 });
  });

  it('is saved by saveChange with a value that equals the earlier one, and the next revision', async () => {
    const row = await whileRenamed(async (em, id) => {
      expect(await saveChange(em, Organization, { id, revision: 7 }, { name: 'Early' })).toBe(8);
    });
    expect(row).toEqual({ name: 'Early', revision: 8 });
  });
});

describe('lockForChange', () => {
  it('locks the row until the commit', async () => {
    await whileRenamed(async (em, id) => {
      await lockForChange(em, Organization, { id });
      const other = orm.em.fork().execute('select id from organizations where id = ? for key share nowait', [id]);
      await expect(other).rejects.toThrow('could not obtain lock');
    });
  });

  it('returns null for a row that does not exist, and readForChange fails', async () => {
    await orm.em.fork().transactional(async (em) => {
      expect(await lockForChange(em, Organization, { id: newId() })).toBeNull();
      expect(await findForChange(em, Organization, { id: newId() })).toBeNull();
      await expect(readForChange(em, Organization, { id: newId() })).rejects.toThrow('not found');
    });
  });
});
