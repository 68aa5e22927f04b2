import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimNames, subjectOf } from '#domain/workload-identity/tokens/claims.ts';
import { addPerson, addTeam } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { blocksOf, runBlocks } from './examples.ts';
import { root } from './markdown.ts';

const file = 'docs/workload-identity.md';
const page = readFileSync(join(root, file), 'utf8');

describe('the page about workload identity', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi({ COORDINATOR_ISSUER: 'https://coordinator.example.com' });
  });
  afterAll(() => api?.close());

  it('has commands that read the public documents, create a connection, and rotate the keys', async () => {
    const password = 'correct horse battery';
    const { caller, email } = await addPerson(api, 'admin', {}, password);
    const session = await caller.post('/auth/sessions', { email, password });
    const { teamId: TEAM } = await addTeam(api.orm);
    const [read = '', made = '', rotated = '', withdrawn = ''] = await runBlocks(
      blocksOf(api, file, 'identity'),
      { TOKEN: session.body.token, TEAM },
      60_000,
    );
    expect(read).toContain('"issuer":"https://coordinator.example.com"');
    expect(made).toContain('"AWS_WEB_IDENTITY_TOKEN_FILE"');
    expect(rotated).toContain('"status":"signing"');
    expect(withdrawn).toContain('"status":"signing"');
  });

  it('explains every claim of a token, and no other', () => {
    const table = page.slice(page.indexOf('## The claims'), page.indexOf('## A connection'));
    const rows = table.split('\n').filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(named.sort()).toEqual([...claimNames].sort());
  });

  it('shows the subject as tokens have it, even in the examples of policies', () => {
    const one = { id: '<id>', slug: 'any' };
    const owners = { organization: one, team: one, project: one, environment: { ...one, kind: 'staging' } };
    const subject = subjectOf({
      ...owners,
      ...{ template: { ...one, version: '1.0.0' }, instance: { id: '<id>', name: 'any' } },
      ...{ attemptId: '', runId: '', phase: 'applying', operation: 'apply' },
      timeouts: { plan: 1, approval: 1, apply: 1 },
    });
    expect(page).toContain(`\`${subject}\``);
    expect(page).toContain(subject.replace(/phase:apply$/, 'phase:<plan, apply or detect>\n'));
    expect(page).toContain(`"${subject.replace('template:<id>', 'template:*')}"`);
  });
});
