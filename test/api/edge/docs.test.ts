import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeApi } from '#api/document/document.ts';
import { docs } from '#api/edge/docs/docs.ts';
import { operations } from '#api/operations.ts';
import { createEdgeApp } from '#test/support/api/edge-app.ts';
import { findBrowser, launchBrowser, openWatchedPage } from '#test/support/browser/browser.ts';

// The viewer renders only what is in view, so that a browser can count the operations of a short document.
const shown = operations.filter(({ id }) => /^(projects|system)\./.test(id));
const document = describeApi(shown, '1.2.3');

let app: FastifyInstance;
let origin: string;

beforeAll(async () => {
  ({ app } = await createEdgeApp(async (server) => {
    await server.register(docs, { document });
    server.get('/api/v1/system/version', async () => ({ api_version: 'v1' }));
  }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});
afterAll(() => app.close());

describe('the OpenAPI document', () => {
  it('is served without a credential, to other tools too', async () => {
    expect((await app.inject('/api/v1/openapi.json')).json()).toEqual(JSON.parse(JSON.stringify(document)));
    expect((await app.inject('/api/docs/json')).json()).toEqual(JSON.parse(JSON.stringify(document)));
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

describe.skipIf(findBrowser() === null)('the reference page, in a real browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  }, 30_000);
  afterAll(() => browser?.close());

  it.each(['/api/docs', '/api/docs/'])(
    '%s shows the operations without a credential, loads only from this server, and complies with its policy',
    async (path) => {
      const { page, watch } = await openWatchedPage(browser, origin);
      const response = await page.goto(`${origin}${path}`);
      const policy = response?.headers()['content-security-policy'] ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|https?:/);
      await page.getByText('List the projects that you may read').waitFor();
      expect(await page.locator('.opblock-tag-section .opblock').count()).toBe(shown.length);
      await page.locator('.opblock-tag-section').getByText('Create a project of a team').click();
      await page.locator('.opblock-section-request-body').getByText('"name": "string"').waitFor();
      await page.getByRole('button', { name: 'Authorize' }).first().click();
      await page.getByText('X-API-Key').first().waitFor();
      expect(await page.title()).toBe('delivery-coordinator API');
      expect(watch).toEqual({ violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] });
      await page.close();
    },
    30_000,
  );

  it('lets a reader try a public operation', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    await page.goto(`${origin}/api/docs`);
    await page.locator('.opblock', { hasText: '/api/v1/system/version' }).first().click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table').getByText('"api_version"').first().waitFor();
    expect(watch).toEqual({ violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] });
    await page.close();
  }, 30_000);

  it('reports a planted violation, so an empty list of violations is meaningful', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    await page.goto(`${origin}/api/docs`);
    await page.evaluate(
      "document.body.append(Object.assign(document.createElement('img'), { src: 'http://outside.invalid/x.png' }))",
    );
    await expect.poll(() => watch.violations.join(' ')).toContain('outside.invalid');
    expect(watch.consoleErrors.length).toBeGreaterThan(0);
    await page.close();
  }, 30_000);
});
