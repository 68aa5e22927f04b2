import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evaluationErrorCodes, reasonCodes } from '#api/access-reviews/access-review.ts';
import { canI } from '#api/access-reviews/operations.ts';
import { operations } from '#api/operations.ts';
import { catalogueOf } from '#api/pipeline/catalogue.ts';
import { addPerson } from '#test/support/access/people.ts';
import { type ResourceAttributes, reviewOf } from '#test/support/access/reviews.ts';
import type { Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { addTenant } from '#test/support/api/tenant.ts';
import type { Ids } from '#test/support/api/tenant-ids.ts';
import { codeBlocks, tableUnder } from './markdown.ts';

const page = 'docs/can-i.md';
const bare = (cell = '') => cell.replaceAll('`', '').trim();
const examples = tableUnder(page, '## An example from every area').map((row) => row.map(bare));

/** The ids of a tenant's resources, by the names of the resources in questions. */
const idOf: Readonly<Record<string, keyof Ids>> = {
  assemblies: 'assembly',
  connections: 'connection',
  drift_findings: 'finding',
  environments: 'environment',
  instances: 'instance',
  organizations: 'organization',
  runs: 'run',
  schedules: 'schedule',
  selective_undo_attempts: 'selectiveUndo',
  service_accounts: 'account',
  teams: 'team',
  templates: 'template',
  variable_sets: 'variableSet',
  webhooks: 'webhook',
};

let api: TestApi;
let root: Caller;
let stranger: Caller;
let ids: Ids;
beforeAll(async () => {
  api = await startApi();
  const administrator = await addPerson(api, 'admin');
  root = administrator.caller;
  stranger = (await addPerson(api, 'requester')).caller;
  ids = await addTenant(api, administrator);
});
afterAll(() => api?.close());

function question([, resource = '', verb = '', name = '', team = '']: readonly string[]): ResourceAttributes {
  const id = idOf[resource];
  const named = name.startsWith('its') && id !== undefined ? ids[id] : name;
  return { resource, verb, ...(name && { name: named }), ...(team && { team_id: ids.team }) };
}

describe('the page about can-i', () => {
  it('has an example of every resource', () => {
    const known = catalogueOf(operations).entries.map(({ review }) => review.resource);
    expect([...new Set(examples.map(([, resource]) => resource))].sort()).toEqual([...new Set(known)].sort());
  });

  it.each(examples)('answers whether the caller may %s', async (...row) => {
    const { status, body, text } = await root.post('/auth/can-i', reviewOf(question(row)));
    expect(status, text).toBe(200);
    const code = body.status.reason?.code;
    expect(row[1] === 'service_accounts' ? ['allowed', 'permission_denied'] : ['allowed']).toContain(code);
  });

  it('shows a valid question', () => {
    const [{ text } = { text: '' }] = codeBlocks(page).filter(({ info }) => info === 'json');
    expect(canI.body?.safeParse(JSON.parse(text)).success).toBe(true);
  });

  it('lists every code of a response', () => {
    const text = codesOf();
    for (const code of [...reasonCodes, ...evaluationErrorCodes]) expect(text).toContain(code);
  });

  it('is linked from every refusal, from the reference, and is served without a credential', async () => {
    const refused = await stranger.get('/users');
    expect([refused.status, refused.headers.get('link')]).toEqual([403, '</api/docs/can-i>; rel="help"']);
    const [document, served] = await Promise.all(
      ['/api/v1/openapi.json', '/api/docs/can-i'].map((path) => fetch(`${api.url}${path}`)),
    );
    const described = (await document?.json()) as { paths: Record<string, { post: { externalDocs: object } }> };
    expect(described.paths['/api/v1/auth/can-i']?.post.externalDocs).toMatchObject({ url: '/api/docs/can-i' });
    expect([served?.status, served?.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(await served?.text()).toContain('five attributes');
  });
});

function codesOf(): string {
  return JSON.stringify(tableUnder(page, '# May I? Asking can-i', 1));
}
