import { describe, expect, it } from 'vitest';
import { deviationsOf, touchedAddresses } from '#domain/runs/plans/deviations.ts';
import type { ResourceChange } from '#domain/runs/plans/model.ts';
import { scannedChanges } from '#domain/runs/plans/scanned-changes.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { openRandom, type Random } from '#test/faults/harness/random.ts';
import { readSeed } from '#test/support/seed.ts';

const secret = { sensitive: true };
const unknown = { unknown: true };

const update = (before: JsonValue, after: JsonValue, more: Partial<ResourceChange> = {}): ResourceChange => ({
  address: 'thing.one',
  action: 'update',
  before,
  after,
  sensitivePaths: [],
  ...more,
});

const placesOf = (...changes: ResourceChange[]) =>
  deviationsOf(changes).map(({ path, before, after }) => ({ path, before, after }));

describe('the deviations of changes', () => {
  it('name nested attributes by their paths, with both values', () => {
    const changes = update({ tags: { env: 'dev', 'a b': 1 }, size: 1 }, { tags: { env: 'prod', 'a b': 2 }, size: 1 });
    expect(deviationsOf([changes])).toEqual([
      {
        address: 'thing.one',
        path: 'tags.env',
        before: 'dev',
        after: 'prod',
        sensitive: false,
        secretDigest: null,
        action: 'update',
      },
      {
        address: 'thing.one',
        path: 'tags["a b"]',
        before: 1,
        after: 2,
        sensitive: false,
        secretDigest: null,
        action: 'update',
      },
    ]);
  });

  it('name items of a list by their names, so that another order changes no path', () => {
    const web = (port: number) => ({ name: 'web', port });
    const db = { name: 'db', port: 5432 };
    const first = placesOf(update({ rules: [web(80), db] }, { rules: [web(81), db] }));
    expect(first).toEqual([{ path: 'rules[name="web"].port', before: 80, after: 81 }]);
    expect(placesOf(update({ rules: [db, web(80)] }, { rules: [db, web(81)] }))).toEqual(first);
  });

  it('contain a changed string of a list once', () => {
    expect(placesOf(update({ zones: ['a', 'b'] }, { zones: ['c', 'b'] }))).toEqual([
      { path: 'zones[0]', before: 'a', after: 'c' },
    ]);
  });

  it('have the empty path for a resource that is gone or new', () => {
    const gone = update({ size: 1 }, null, { action: 'delete' });
    const made = update(null, { password: secret }, { address: 'thing.two', action: 'create' });
    expect(deviationsOf([made, gone])).toEqual([
      {
        address: 'thing.one',
        path: '',
        before: { size: 1 },
        after: null,
        sensitive: false,
        secretDigest: null,
        action: 'delete',
      },
      {
        address: 'thing.two',
        path: '',
        before: null,
        after: { password: secret },
        sensitive: true,
        secretDigest: null,
        action: 'create',
      },
    ]);
  });

  it('contain a secret only if it changes', () => {
    const both = { password: secret, token: secret };
    const sensitivePaths = [
      { path: ['password'], changed: true },
      { path: ['token'], changed: false },
    ];
    expect(deviationsOf([update(both, both, { sensitivePaths })])).toEqual([
      {
        address: 'thing.one',
        path: 'password',
        before: secret,
        after: secret,
        sensitive: true,
        secretDigest: null,
        action: 'update',
      },
    ]);
  });

  it('contain every secret of a change that nothing else explains, if the tool does not say which secrets change', () => {
    const both = { password: secret };
    expect(placesOf(update(both, both, { sensitivePaths: undefined }))).toHaveLength(1);
    const explained = update({ ...both, size: 1 }, { ...both, size: 2 }, { sensitivePaths: undefined });
    expect(placesOf(explained)).toEqual([{ path: 'size', before: 1, after: 2 }]);
  });

  it('contain a value that is masked on both sides, if nothing else explains the change', () => {
    expect(placesOf(update({ url: secret, size: 1 }, { url: secret, size: 1 }))).toEqual([
      { path: 'url', before: secret, after: secret },
    ]);
  });

  it('distinguish two secrets by their digests', () => {
    const digestOf = (digest: string) => {
      const sensitivePaths = [{ path: ['password'], changed: true, digest }];
      const [found] = deviationsOf([update({ password: secret }, { password: secret }, { sensitivePaths })]);
      return found?.secretDigest;
    };
    expect(digestOf('one')).toEqual(expect.any(String));
    expect(digestOf('one')).toBe(digestOf('one'));
    expect(digestOf('one')).not.toBe(digestOf('other'));
  });

  it('leave out resources that are only read or moved', () => {
    const read = update(null, { id: 1 }, { action: 'read' });
    const moved = update({ id: 1 }, { id: 1 }, { action: 'no-op', previousAddress: 'thing.old' });
    expect(deviationsOf([read, moved])).toEqual([]);
  });

  it('treat an attribute that is null like one that is missing', () => {
    expect(placesOf(update({ a: null, b: 1 }, { b: 1, c: null }))).toEqual([]);
  });
});

it('the touched addresses are those of resources that change or move', () => {
  const changes = [
    update({ size: 1 }, { size: 2 }),
    update({ size: 1 }, { size: 1 }, { address: 'thing.new', action: 'no-op', previousAddress: 'thing.old' }),
    update(null, {}, { address: 'data.read', action: 'read' }),
    update({ size: 1 }, { size: 1 }, { address: 'thing.same', action: 'no-op' }),
  ];
  expect(touchedAddresses(changes)).toEqual(['thing.new', 'thing.old', 'thing.one']);
});

describe('the deviations of a scan', () => {
  const scanned = (drift: ResourceChange[], planned: ResourceChange[]) => placesOf(...scannedChanges(drift, planned));

  it('contain a value that drifted once, from the recorded to the real value', () => {
    const drift = update({ size: 1, etag: 'x' }, { size: 2, etag: 'y' });
    const plan = update({ size: 2, etag: 'y' }, { size: 1, etag: unknown });
    expect(scanned([drift], [plan])).toEqual([
      { path: 'etag', before: 'x', after: 'y' },
      { path: 'size', before: 1, after: 2 },
    ]);
  });

  it('contain a value that only the template changes, from the desired to the real value', () => {
    const drift = update({ size: 1, color: 'red' }, { size: 2, color: 'red' });
    const plan = update({ size: 2, color: 'red' }, { size: 1, color: 'blue' });
    expect(scanned([drift], [plan])).toEqual([
      { path: 'color', before: 'blue', after: 'red' },
      { path: 'size', before: 1, after: 2 },
    ]);
    expect(scanned([], [plan])).toEqual([
      { path: 'color', before: 'blue', after: 'red' },
      { path: 'size', before: 1, after: 2 },
    ]);
  });

  it('contain a missing resource once, although the plan would create it again', () => {
    const drift = update({ size: 1 }, null, { action: 'delete' });
    const plan = update(null, { size: 1, id: unknown }, { action: 'create' });
    expect(scanned([drift], [plan])).toEqual([{ path: '', before: { size: 1 }, after: null }]);
  });

  it('say that a resource that the plan creates is missing, and one that it destroys is unexpected', () => {
    const missing = update(null, { size: 1 }, { action: 'create' });
    const left = update({ size: 3 }, null, { address: 'thing.two', action: 'delete' });
    expect(deviationsOf(scannedChanges([], [missing, left]))).toMatchObject([
      { address: 'thing.one', path: '', before: { size: 1 }, after: null, action: 'delete' },
      { address: 'thing.two', path: '', before: null, after: { size: 3 }, action: 'create' },
    ]);
  });

  it('leave out values that only an apply would know, unless nothing else explains the change', () => {
    const known = update({ size: 1, output: 1 }, { size: 2, output: unknown }, { action: 'replace' });
    expect(scanned([], [known])).toEqual([{ path: 'size', before: 2, after: 1 }]);
    const secretOutput = update(
      { size: 1, output: secret },
      { size: 2, output: secret },
      { sensitivePaths: [{ path: ['output'], changed: true }], unknownPaths: [['output']] },
    );
    expect(scanned([], [secretOutput])).toEqual([{ path: 'size', before: 2, after: 1 }]);
    const alone = update({ stamp: 'then' }, { stamp: unknown });
    expect(scanned([], [alone])).toEqual([{ path: 'stamp', before: unknown, after: 'then' }]);
  });

  it('leave out a resource that the plan replaces only because a failed apply left it tainted', () => {
    const tainted = { action: 'replace', actionReason: 'replace_because_tainted' } as const;
    const plan = update({ id: 'a', size: 1 }, { id: unknown, size: 1 }, tainted);
    expect(scanned([], [plan])).toEqual([]);
    const drift = update({ id: 'a', size: 1 }, { id: 'a', size: 2 });
    expect(scanned([drift], [{ ...plan, before: drift.after }])).toEqual([{ path: 'size', before: 1, after: 2 }]);
    const other = update({ id: 'a', size: 2 }, { id: unknown, size: 1 }, tainted);
    expect(scanned([], [other])).toEqual([{ path: 'size', before: 1, after: 2 }]);
  });

  it('contain a secret that differs in the drift or in the plan', () => {
    const both = { password: secret };
    const drift = update(both, both, { sensitivePaths: [{ path: ['password'], changed: true }] });
    const plan = update(both, both, { sensitivePaths: [{ path: ['password'], changed: false }] });
    expect(scanned([drift], [plan])).toEqual([{ path: 'password', before: secret, after: secret }]);
    expect(scanned([], [{ ...plan, sensitivePaths: [{ path: ['password'], changed: true }] }])).toHaveLength(1);
    const known = { ...drift, sensitivePaths: [{ path: ['password'], changed: true, digest: 'real' }] };
    expect(scannedChanges([known], [plan])[0]?.sensitivePaths).toEqual(known.sensitivePaths);
  });
});

/** The title of a failing test contains its seed (`DEVIATIONS_SEED`). */
const seed = readSeed('DEVIATIONS_SEED');

function randomValue(random: Random, depth = 0): JsonValue {
  const kind = random.pick(depth > 2 ? ['leaf'] : ['leaf', 'object', 'list']);
  if (kind === 'leaf') return random.pick<JsonValue>([null, true, 0, 1, 'x', '{"a":[1]}', '{"a":[2]}', '', secret]);
  const count = random.pick([0, 1, 2, 3]);
  const values = Array.from({ length: count }, () => randomValue(random, depth + 1));
  if (kind === 'list') return values;
  return Object.fromEntries(values.map((value) => [random.pick(['name', 'b', 'c.d', '__proto__', '']), value]));
}

const randomObject = (random: Random): JsonValue => ({ a: randomValue(random), b: randomValue(random) });

it(`random resources have each path once, and none if they are the same (seed ${seed})`, () => {
  const random = openRandom(seed, 'deviations');
  for (let round = 0; round < 2000; round++) {
    const [recorded, real] = [randomObject(random), randomObject(random)];
    const found = deviationsOf([update(recorded, real)]);
    const places = found.map(({ address, path }) => JSON.stringify([address, path]));
    expect(new Set(places).size).toBe(places.length);
    const hasSecret = JSON.stringify(recorded).includes('sensitive');
    if (!hasSecret) expect(deviationsOf([update(recorded, structuredClone(recorded))])).toEqual([]);
    // A plan that only restores what is recorded adds nothing to the drift.
    const restoring = scannedChanges([update(recorded, real)], [update(real, recorded)]);
    expect(deviationsOf(restoring)).toEqual(found);
  }
});
