import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { areas } from '#api/areas.ts';
import { tagOf } from '#api/document/tags.ts';
import { operations, tags } from '#api/operations.ts';
import * as pageLists from '#api/page-lists.ts';
import { arrange } from '#api/web/declarations/arrange.ts';

const root = join(import.meta.dirname, '../../src/api');

/** What all areas share. */
const notAreas = ['edge', 'pipeline', 'web', 'document'];
/** Areas whose operations and pages are parts of those of other areas. */
const withoutOwn = ['tenancy', 'variables'];

const folders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !notAreas.includes(entry.name))
  .map(({ name }) => name);

it.each(folders.filter((name) => !withoutOwn.includes(name)))(
  'the area %s has an area.ts that is listed',
  async (name) => {
    const { area } = await import(join(root, name, 'area.ts'));
    expect(areas).toContain(area);
  },
);

it.each(folders.filter((name) => existsSync(join(root, name, 'page-list.ts'))))(
  'the page-list.ts of %s is listed',
  async (name) => {
    expect(Object.values(pageLists)).toContain(await import(join(root, name, 'page-list.ts')));
  },
);

it.each(withoutOwn)('the area %s has no area.ts', (name) => {
  expect(existsSync(join(root, name, 'area.ts'))).toBe(false);
});

it('the operations of every group are described once, and no group lacks operations', () => {
  const used = new Set(operations.map(tagOf));
  expect(tags.map(({ name }) => name).sort()).toEqual([...used].sort());
});

it('arrange puts an item behind the one that it names in `after`, and keeps the order of the others', () => {
  const placed = [{ name: 'b', after: 'a' }, { name: 'd' }, { name: 'a' }, { name: 'c', after: 'b' }];
  expect(arrange(placed, ({ name }) => name).map(({ name }) => name)).toEqual(['d', 'a', 'b', 'c']);
});

it('arrange refuses an item that names an unknown item in `after`', () => {
  expect(() => arrange([{ name: 'b', after: 'a' }], ({ name }) => name)).toThrow('b follows a');
});
