import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let tenant: Tenant;
let visitor: Visitor;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  visitor = await signInVisitor(api, tenant.owner);
});
afterAll(() => api?.close());

/** What browsers send with a request of a page on another port of the same host, and of another site. */
const elsewhere = ['same-site', 'cross-site'];
const reads = [
  ['fetch', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' }],
  ['an event stream', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
  ['an image', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
  ['a frame', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
] as const;

describe.each(elsewhere)('a page of another origin (%s)', (site) => {
  it.each(reads)('may not load pages, streams and the API by %s', async (_how, headers) => {
    for (const path of ['/', '/workloads/runs', '/workloads/runs/stream', '/search?q=a', '/api/v1/search?q=a']) {
      const answer = await visitor.get(path, { ...headers, 'sec-fetch-site': site });
      expect([path, answer.status]).toEqual([path, 403]);
    }
  });

  it('may link to a page and to a download', async () => {
    const opened = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await visitor.get('/workloads/runs', opened)).status).toBe(200);
    expect((await visitor.get('/api/v1/audit/export?format=csv', opened)).status).toBe(200);
  });
});

describe('a request that is not from another origin', () => {
  it.each([
    ['a part of a page', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    ['a typed address', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
    ['a program', {}],
  ])('may use the session cookie: %s', async (_who, headers: Record<string, string>) => {
    expect((await visitor.get('/workloads/runs', headers)).status).toBe(200);
    expect((await visitor.get('/api/v1/search?q=a', headers)).status).toBe(200);
  });
});
