import { expect, it } from 'vitest';
import { describeIssues } from '#domain/assemblies/spec/problems.ts';
import { AssemblySpec } from '#domain/assemblies/spec/spec.ts';

it('the problem of an unknown member of a draft names the known members', () => {
  const draft = { noodes: {}, nodes: { app: { template: 'web', aproval: {}, retry: { attempts: 1, pause: 'PT1S' } } } };
  const issues = AssemblySpec.safeParse(draft).error?.issues ?? [];
  const found = new Map([...describeIssues(AssemblySpec, issues)].map(({ path, message }) => [path, message]));
  expect(found.get('/noodes')).toBe('is not known here: known are description, variables, nodes, outputs, concurrency');
  expect(found.get('/nodes/app/aproval')).toMatch(/^is not known here: known are template, version, .*approval/);
  expect(found.get('/nodes/app/retry/pause')).toBe('is not known here: known are attempts, backoff');
});
