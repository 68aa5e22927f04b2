import { expect, test } from 'vitest';
import { kindsOf, Limits, quotaKindNames, quotaScopes } from '#domain/shared/vocabulary/quotas.ts';
import { tableUnder } from '../../docs/markdown.ts';

test.each(quotaKindNames)('the limit of %s is an integer that every client and the database can hold', (kind) => {
  const max = ['state_bytes', 'log_bytes'].includes(kind) ? 2 ** 50 : 2 ** 31 - 1;
  const isTaken = (limit: unknown) => Limits.safeParse({ [kind]: limit }).success;
  expect([0, max, null].map(isTaken)).toEqual([true, true, true]);
  expect([-1, max + 1, 0.5, '1'].map(isTaken)).toEqual([false, false, false, false]);
});

test('docs/quotas.md lists every kind of quota, and says which kinds environments do not have', () => {
  const rows = tableUnder('docs/quotas.md', '## What is limited').map(([kind = '', counts = '']) => ({ kind, counts }));
  expect(rows.map(({ kind }) => kind)).toEqual(quotaKindNames.map((kind) => `\`${kind}\``));
  const ofEnvironments = rows.filter(({ counts }) => !counts.includes('an environment has no such limit'));
  expect(ofEnvironments.map(({ kind }) => kind)).toEqual(kindsOf('environment').map((kind) => `\`${kind}\``));
});

test('every scope except the environment has quotas of all kinds', () => {
  const complete = quotaScopes.filter((scope) => kindsOf(scope).length === quotaKindNames.length);
  expect(complete).toEqual(['team', 'organization', 'installation']);
});
