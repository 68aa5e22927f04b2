import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeApi } from '#api/document/document.ts';
import { docs } from '#api/edge/docs/docs.ts';
import { operations, tags } from '#api/operations.ts';
import { createEdgeApp } from '#test/support/api/edge-app.ts';
import { findBrowser, launchBrowser, openWatchedPage } from '#test/support/browser/browser.ts';
import { measureProcessorSlowness } from '#test/support/slowness.ts';

// The whole document would take each of the tests seconds.
const shown = operations.filter(({ id }) => /^(projects|runs|system|environment_connections)\./.test(id));
const document = describeApi(shown, '1.2.3', tags);

let app: FastifyInstance;
let origin: string;
/** The cookies of each request that the viewer sent. */
const tried: { cookie: unknown }[] = [];

beforeAll(async () => {
  ({ app } = await createEdgeApp(async (server) => {
    await server.register(docs, { describe: () => document });
    server.get('/api/v1/system/version', async ({ headers }) => {
      tried.push({ cookie: headers.cookie });
      return { api_version: 'v1' };
    });
  }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});
afterAll(() => app.close());

describe('the OpenAPI document', () => {
  it('is served without a credential, to other tools too', async () => {
    expect((await app.inject('/api/v1/openapi.json')).json()).toEqual(JSON.parse(JSON.stringify(document)));
    expect((await app.inject('/api/docs/json')).json()).toEqual(JSON.parse(JSON.stringify(document)));
    expect(parse((await app.inject('/api/docs/yaml')).body)).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('answers 304 to a client that already has it', async () => {
    const first = await app.inject('/api/v1/openapi.json');
    const again = await app.inject({
      url: '/api/v1/openapi.json',
      headers: { 'if-none-match': String(first.headers['etag']) },
    });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });
});

describe('the files of the reference', () => {
  it.each(['/api/docs/json', '/api/v1/openapi.json', '/api/docs/static/swagger-ui-bundle.js'])(
    '%s is compressed for clients that accept gzip, and the same for others',
    async (url) => {
      const plain = await app.inject(url);
      const zipped = await app.inject({ url, headers: { 'accept-encoding': 'gzip' } });
      expect([plain.headers['content-encoding'], zipped.headers['content-encoding']]).toEqual([undefined, 'gzip']);
      expect(gunzipSync(zipped.rawPayload).equals(plain.rawPayload)).toBe(true);
      expect(zipped.rawPayload.length * 2).toBeLessThan(plain.rawPayload.length);
      expect(zipped.headers['vary']).toContain('accept-encoding');
    },
  );
});

describe.skipIf(findBrowser() === null)('the reference page, in a real browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it.each(['/api/docs', '/api/docs/'])(
    '%s shows the operations without a credential, loads only from this server, and complies with its policy',
    async (path) => {
      const { page, watch } = await openWatchedPage(browser, origin);
      const response = await page.goto(`${origin}${path}`);
      const policy = response?.headers()['content-security-policy'] ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|https?:/);
      await page.locator('#operations-tag-projects').click();
      await page.getByText('List the projects that you may read').waitFor();
      await page.locator('.opblock-tag-section').getByText('Create a project of a team').click();
      await page.locator('.opblock-section-request-body').getByText('"name": "string"').waitFor();
      await page.getByRole('button', { name: 'Authorize' }).first().click();
      await page.getByText('X-API-Key').first().waitFor();
      const boxes = page.locator('.auth-container h4');
      expect(await boxes.allTextContents()).toEqual([
        expect.stringMatching(/^bearer/),
        expect.stringMatching(/^apiKey/),
      ]);
      expect(await page.title()).toBe('delivery-coordinator API');
      expect(watch).toEqual({ violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] });
      await page.close();
    },
  );

  it('starts with runs, and renders the operations of a group when the group is opened', async () => {
    const { page } = await openWatchedPage(browser, origin);
    await page.goto(`${origin}/api/docs`);
    await page.locator('.opblock-tag').first().waitFor();
    const groups = await page.locator('.opblock-tag').evaluateAll((tags) => tags.map((tag) => tag.id));
    expect(groups).toEqual(document.tags?.map(({ name }) => `operations-tag-${name.replaceAll(' ', '_')}`));
    expect(groups[0]).toBe('operations-tag-runs');
    expect(await page.locator('.opblock').count()).toBe(0);
    await page.locator('.opblock-tag').first().click();
    await page.locator('.opblock').first().waitFor();
    await page.locator('.opblock-tag').first().click();
    await page.getByRole('button', { name: 'Show the webhooks' }).click();
    await page.locator('.opblock', { hasText: 'run.planned' }).first().waitFor();
    await page.close();
  });

  it('is no wider than the screen of a phone, even with an open operation', async () => {
    const { page } = await openWatchedPage(browser, origin);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${origin}/api/docs`);
    await page.locator('#operations-tag-environment_connections').click();
    await page.locator('.opblock-summary-control').first().click();
    await page.locator('.responses-table').first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.close();
  });

  it('the whole document becomes usable within two seconds of a usual processor, and an operation opens with its schemas', async () => {
    const all = await createEdgeApp(async (server) => {
      await server.register(docs, { describe: () => describeApi(operations, '1.2.3', tags) });
    });
    await all.app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = all.app.server.address() as AddressInfo;
    const { page, watch } = await openWatchedPage(browser, `http://127.0.0.1:${port}`);
    const measured = await page.context().newCDPSession(page);
    // Time of the thread: other work on the machine counts little.
    await measured.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.goto(`http://127.0.0.1:${port}/api/docs`);
    await page.locator('#operations-tag-runs').click();
    await page.locator('.opblock-post').first().click();
    await page.locator('.opblock-section-request-body').getByText('"template_id"').first().waitFor();
    const { metrics } = await measured.send('Performance.getMetrics');
    const { value } = metrics.find(({ name }) => name === 'TaskDuration') ?? {};
    expect(value).toBeLessThan(2 * measureProcessorSlowness());
    expect(watch).toEqual({ violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] });
    await page.close();
    await all.app.close();
  }, 120_000);

  it('finds operations by what they do', async () => {
    const { page } = await openWatchedPage(browser, origin);
    await page.goto(`${origin}/api/docs`);
    await page.locator('.operation-filter-input').fill('requeue');
    await expect.poll(() => page.locator('.opblock-tag').count()).toBe(1);
    await page.locator('#operations-tag-runs').click();
    await page.locator('.opblock', { hasText: '/api/v1/runs/{id}/requeue' }).first().waitFor();
    await page.close();
  });

  it('sends no request of a reader without a typed key, and never a cookie', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    await page.context().addCookies([{ name: 'coordinator_session', value: 'of the reader', url: origin }]);
    await page.goto(`${origin}/api/docs`);
    await page.locator('#operations-tag-system').click();
    await page.locator('.opblock', { hasText: '/api/v1/system/version' }).first().click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute', exact: true }).click();
    await page.locator('.live-responses-table').getByText('type your API key under "Authorize"').first().waitFor();
    expect(tried).toEqual([]);

    await page.getByRole('button', { name: 'Authorize' }).first().click();
    const authorization = page.locator('.auth-container', { hasText: 'X-API-Key' });
    await authorization.locator('input').fill('dc_typed');
    await authorization.locator('button.authorize').click();
    await page.locator('.close-modal').click();
    await page.getByRole('button', { name: 'Execute', exact: true }).click();
    await page.locator('.live-responses-table').getByText('"api_version"').first().waitFor();
    expect(tried).toEqual([{ cookie: undefined }]);
    expect(watch).toEqual({ violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] });
    await page.close();
  });

  it('reports a planted violation, so an empty list of violations is meaningful', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    await page.goto(`${origin}/api/docs`);
    await page.evaluate(
      "document.body.append(Object.assign(document.createElement('img'), { src: 'http://outside.invalid/x.png' }))",
    );
    await expect.poll(() => watch.violations.join(' ')).toContain('outside.invalid');
    expect(watch.consoleErrors.length).toBeGreaterThan(0);
    await page.close();
  });
});
