import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Invalid } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { afterId, pageQuery, toPage, Where } from '#domain/shared/paging.ts';

const rows = (count: number) => Array.from({ length: count }, () => ({ id: newId() })).reverse();
const Query = z.strictObject(pageQuery);

describe('a page', () => {
  it('has no next one where everything is on it', () => {
    for (const count of [0, 1, 5]) {
      const all = rows(count);
      expect(toPage(all, { limit: 5 })).toEqual({ items: all, nextCursor: null });
    }
  });

  it('leads on from its last row where there is more', () => {
    const found = rows(6);
    const page = toPage(found, { limit: 5 });
    expect(page.items).toEqual(found.slice(0, 5));
    expect(afterId({ limit: 5, cursor: page.nextCursor ?? '' })).toBe(found[4]?.id);
  });

  it('starts anywhere a cursor says and nowhere else', () => {
    expect(afterId({ limit: 5 })).toBeNull();
    const { nextCursor } = toPage(rows(2), { limit: 1 });
    const cursor = nextCursor ?? '';
    const zero = Buffer.from('00000000-0000-0000-0000-000000000000').toString('base64url');
    const upper = Buffer.from(newId().toUpperCase()).toString('base64url');
    const injected = Buffer.from(`${newId()}' or true`).toString('base64url');
    for (const bad of [
      '',
      'x',
      newId(),
      zero,
      upper,
      injected,
      `${cursor}!`,
      `${cursor}=`,
      ` ${cursor}`,
      cursor.slice(1),
    ])
      expect(() => afterId({ limit: 5, cursor: bad }), JSON.stringify(bad)).toThrow(Invalid);
  });
});

describe('what a list is asked', () => {
  it('takes 50 rows unless told, and 1 to 200', () => {
    expect(Query.parse({})).toEqual({ limit: 50 });
    for (const limit of ['1', '200']) expect(Query.parse({ limit }).limit).toBe(Number(limit));
  });

  it.each(['0', '201', '-1', '1.5', '', ' ', 'ten', 'NaN', 'Infinity', '1e99'])('refuses the limit %j', (limit) => {
    expect(Query.safeParse({ limit }).success).toBe(false);
  });

  it('refuses a limit or cursor that is given twice', () => {
    expect(Query.safeParse({ limit: ['1', '2'] }).success).toBe(false);
    expect(Query.safeParse({ cursor: ['a', 'b'] }).success).toBe(false);
  });
});

describe('the conditions of a list', () => {
  it('hold together, each in brackets, with their parameters in order', () => {
    const where = new Where()
      .and('a = ? or b = ?', 1, 2)
      .andIf('x', 'c = ?')
      .andIf(undefined, 'd = ?')
      .andIf(null, 'e = ?');
    expect(where.sql).toBe('true and (a = ? or b = ?) and (c = ?)');
    expect(where.params).toEqual([1, 2, 'x']);
  });

  it('filter by what is falsy but given', () => {
    expect(new Where().andIf(0, 'a = ?').andIf(false, 'b = ?').andIf('', 'c = ?').params).toEqual([0, false, '']);
  });

  it('hold for everything where there are none', () => {
    expect(new Where().sql).toBe('true');
  });
});
