import { expect, it } from 'vitest';
import { observedDigestOf } from '#domain/drift/findings/digests.ts';

const secret = { sensitive: true };

it('two secret values have different digests, although both are shown masked', () => {
  const observe = (secretDigest: string | null) => observedDigestOf({ after: secret, action: 'update', secretDigest });
  expect(observe('one')).toBe(observe('one'));
  expect(observe('one')).not.toBe(observe('other'));
  expect(observe(null)).not.toBe(observe('one'));
});

it('the same value has the same digest, whether the tool would update or replace the resource', () => {
  expect(observedDigestOf({ after: 1, action: 'update' })).toBe(observedDigestOf({ after: 1, action: 'replace' }));
  expect(observedDigestOf({ after: 1, action: 'update' })).not.toBe(observedDigestOf({ after: 2, action: 'update' }));
});
