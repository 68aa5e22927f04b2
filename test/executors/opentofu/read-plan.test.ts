import { describe, expect, it } from 'vitest';
import { deviationsOf } from '#domain/runs/plans/deviations.ts';
import { maxPaths } from '#domain/runs/plans/model.ts';
import { scannedChanges } from '#domain/runs/plans/scanned-changes.ts';
import { Redactor } from '#domain/shared/redaction/redactor.ts';
import { readPlan } from '#executors/opentofu/plan-json/plan.ts';
import { secretDigestOf } from '#executors/redaction/secret-digest.ts';

const key = Buffer.from('a key of this test').toString('base64');

/** Reads a plan as OpenTofu writes it. */
const read = (plan: object, redactor = new Redactor()) =>
  readPlan(Buffer.from(JSON.stringify(plan)), { redactor, digest: secretDigestOf(key) });
const scan = (plan: object) => {
  const { drift, changes } = read(plan);
  return deviationsOf(scannedChanges(drift, changes));
};

const secrets = (change: (index: number) => string) =>
  Object.fromEntries(Array.from({ length: maxPaths + 1 }, (_, index) => [`s${index}`, change(index)]));
const marks = (value: object) => Object.fromEntries(Object.keys(value).map((name) => [name, true]));
const drifted = (before: object, after: object, sensitive: object) => ({
  resource_drift: [
    {
      address: 'thing.one',
      type: 'thing',
      change: { actions: ['update'], before, after, before_sensitive: sensitive, after_sensitive: sensitive },
    },
  ],
});

describe('a deposed object', () => {
  const plan = {
    resource_drift: [
      { address: 'thing.one', type: 'thing', change: { actions: ['update'], before: { a: 1 }, after: { a: 2 } } },
      {
        address: 'thing.one',
        type: 'thing',
        deposed: '8a7b6c5d',
        change: { actions: ['delete'], before: { a: 1 }, after: null },
      },
    ],
    resource_changes: [
      { address: 'thing.one', type: 'thing', change: { actions: ['update'], before: { a: 2 }, after: { a: 1 } } },
      {
        address: 'thing.one',
        type: 'thing',
        deposed: '8a7b6c5d',
        change: { actions: ['delete'], before: { a: 1 }, after: null },
      },
    ],
  };

  it('has an address of its own, as in the list of resources', () => {
    expect(read(plan).changes.map(({ address }) => address)).toEqual([
      'thing.one',
      'thing.one (deposed object 8a7b6c5d)',
    ]);
  });

  it('does not hide the deviations of the object that replaced it', () => {
    const found = scan({ resource_changes: plan.resource_changes }).map(({ address, path }) => `${address} ${path}`);
    expect(found).toContain('thing.one a');
    expect(found).toHaveLength(2);
  });
});

describe('the secrets of a resource beyond those that a plan lists', () => {
  const first = secrets((index) => `secret-${index}`);
  const other = (value: string) => ({ ...first, [`s${maxPaths}`]: value });

  it('are one more deviation if they differ', () => {
    const found = scan(drifted({ ...first, size: 1 }, { ...other('changed'), size: 2 }, marks(first)));
    expect(found.map(({ path, sensitive }) => [path, sensitive])).toEqual([
      ['(other secrets)', true],
      ['size', false],
    ]);
  });

  it('have a digest that depends on their values', () => {
    const digestOf = (value: string) => scan(drifted(first, other(value), marks(first)))[0]?.secretDigest;
    expect(digestOf('changed')).toMatch(/^[\w-]{43}$/);
    expect(digestOf('changed')).toBe(digestOf('changed'));
    expect(digestOf('changed')).not.toBe(digestOf('changed once more'));
  });

  it('are not a deviation if they are unchanged', () => {
    const found = scan(drifted({ ...first, size: 1 }, { ...first, size: 2 }, marks(first)));
    expect(found.map(({ path }) => path)).toEqual(['size']);
  });

  it('are not a deviation if only an apply would know their new values', () => {
    const change = {
      actions: ['update'],
      before: { ...first, size: 2 },
      after: { ...secrets((index) => (index < maxPaths ? `secret-${index}` : '')), size: 1 },
      before_sensitive: marks(first),
      after_sensitive: marks(first),
      after_unknown: { [`s${maxPaths}`]: true },
    };
    const found = scan({ resource_changes: [{ address: 'thing.one', type: 'thing', change }] });
    expect(found.map(({ path }) => path)).toEqual(['size']);
  });
});

it('a secret in the type of a resource is not shown', () => {
  const redactor = new Redactor();
  redactor.learn('a-secret-value');
  const change = { actions: ['update'], before: {}, after: {} };
  const { changes } = read({ resource_changes: [{ address: 'thing.one', type: 'a-secret-value', change }] }, redactor);
  expect(JSON.stringify(changes)).not.toContain('a-secret-value');
});
