import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { findAccessibilityFaults } from '#test/support/browser/accessibility.ts';
import { findBrowser, launchBrowser, openWatchedPage, type PageWatch } from '#test/support/browser/browser.ts';
import { addSession } from '#test/support/browser/signed-in.ts';

let api: TestApi;
let tenant: Tenant;
let browser: Browser;
let origin: string;
let template: string;

const nothing: PageWatch = { violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] };
const command = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };
const long = 'w'.repeat(300);

const variables = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', minLength: 3, description: `<img src=x onerror=alert(1)> \u202e${long}` },
    token: { type: 'string', writeOnly: true, minLength: 4 },
    size: { type: 'integer', minimum: 1, default: 3 },
    zones: { type: 'array', uniqueItems: true, items: { enum: ['a', 'b', 'c'] } },
    servers: {
      type: 'array',
      items: {
        type: 'object',
        properties: { host: { type: 'string' }, password: { type: 'string', writeOnly: true } },
        required: ['host'],
      },
    },
    ports: { type: 'array', items: { type: 'integer' } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    storage: {
      type: 'object',
      oneOf: [
        { title: 'Disk', properties: { kind: { const: 'disk' }, gb: { type: 'integer' } }, required: ['kind', 'gb'] },
        { title: 'Bucket', properties: { kind: { const: 'bucket' }, bucket: { type: 'string' } }, required: ['kind'] },
      ],
    },
    extra: {},
  },
  required: ['name', 'token'],
};

describe.skipIf(findBrowser() === null)('the catalog and the form for a run, in a real browser', () => {
  beforeAll(async () => {
    [api, browser] = await Promise.all([startApi(), launchBrowser()]);
    tenant = await makeTenant(api);
    const { owner, team } = tenant;
    const readme = `# Hostile\n\n<script>alert(1)</script> ![x](https://elsewhere.example/x.png) ${long}\n\n|a|b|\n|-|-|\n|1|${long}|\n`;
    const { id } = await owner.make('/registry/templates', {
      name: 'Machines',
      team_id: team,
      tags: ['compute'],
      description: `Machines of ${long}`,
      readme,
    });
    template = id;
    await owner.make(`/registry/templates/${id}/versions`, {
      version: '1.0.0',
      spec: { variables, executor: command },
    });
    await api.app.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  async function openPage(path: string): Promise<{ page: Page; watch: PageWatch }> {
    const opened = await openWatchedPage(browser, origin);
    await addSession(opened.page, origin, tenant.owner);
    await opened.page.goto(`${origin}${path}`);
    return opened;
  }

  async function chooseEnvironment(page: Page): Promise<void> {
    await page.getByLabel('Environment').selectOption({ label: 'Network / Development' });
  }

  async function admitted(page: Page) {
    await page.waitForURL(/\/workloads\/runs\/[0-9a-f-]{36}/);
    const id = new URL(page.url()).pathname.split('/')[3];
    return (await tenant.owner.get(`/runs/${id}`)).body;
  }

  it('find a template, fill in its form with added parts, and lead to the run', async () => {
    const { page, watch } = await openPage('/catalog');
    await page.getByLabel('Name or description').fill('machines');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Machines' }).click();
    await page.getByRole('link', { name: 'Run', exact: true }).click();
    await page.getByLabel('token').fill('a secret');
    await chooseEnvironment(page);
    await page.getByLabel('Name name').fill('web');
    await page.getByText('optional variables').click();
    await page.getByRole('button', { name: 'Add an item to ports' }).click();
    await page.getByLabel('Item 1').fill('80');
    await page.getByRole('button', { name: 'Add an item to ports' }).click();
    const second = page.getByLabel('Item 2');
    await second.waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe(await second.getAttribute('id'));
    await second.fill('443');
    await page.getByRole('button', { name: 'Remove 1 of ports' }).click();
    await expect.poll(() => page.getByLabel('Item 1').inputValue()).toBe('443');
    await page.getByLabel('Kind of storage').selectOption('Disk');
    await page.getByLabel('gb').fill('20');
    await page.getByRole('checkbox', { name: 'b', exact: true }).check();
    expect(await page.getByLabel('token').inputValue()).toBe('a secret');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const run = await admitted(page);
    expect(run.variables).toMatchObject({
      name: 'web',
      ports: [443],
      storage: { kind: 'disk', gb: 20 },
      zones: ['b'],
      token: { sensitive: true },
    });
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('keep what a user types in the next field while the form changes for the selected environment', async () => {
    const { page, watch } = await openPage(`/catalog/${template}/run`);
    let answer = () => {};
    const isTyping = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(/\/run/, async (route) => {
      if (route.request().method() === 'POST') await isTyping;
      await route.continue();
    });
    const changed = page.waitForResponse((response) => response.request().method() === 'POST');
    await chooseEnvironment(page);
    await page.getByLabel('Name name').click();
    await page.keyboard.type('before');
    await page.keyboard.press('ArrowLeft');
    await page.evaluate('window.typedIn = document.activeElement');
    answer();
    await changed;
    await expect.poll(() => page.evaluate('window.typedIn.isConnected')).toBe(false);
    await page.keyboard.type('-after-');
    expect(await page.getByLabel('Name name').inputValue()).toBe('befor-after-e');
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('keep secrets of other items, and discard those of a list whose items move', async () => {
    const { page, watch } = await openPage(`/catalog/${template}/run`);
    await page.getByText('optional variables').click();
    const addServer = page.getByRole('button', { name: 'Add an item to servers' });
    await addServer.click();
    await page.getByLabel('host').fill('one');
    await page.getByLabel('password').fill('secret of one');
    await addServer.click();
    await expect.poll(() => page.getByLabel('password').count()).toBe(2);
    expect(await page.getByLabel('password').first().inputValue()).toBe('secret of one');
    await page.getByRole('button', { name: 'Remove 1 of servers' }).click();
    await expect.poll(() => page.getByLabel('password').count()).toBe(1);
    expect(await page.getByLabel('password').inputValue()).toBe('');
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('remove a secret that was entered before, and what was typed over it', async () => {
    const { page, watch } = await openPage(`/catalog/${template}/run?environment_id=${tenant.environment}`);
    await page.getByLabel('token').fill('a secret');
    await page.getByLabel('Name name').fill('w');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('The secrets that you entered are kept').waitFor();
    await page.getByLabel('token').fill('another secret');
    const remove = page.getByRole('button', { name: 'Remove what you entered for token' });
    await remove.click();
    await expect.poll(() => remove.count()).toBe(0);
    expect(await page.getByLabel('token').inputValue()).toBe('');
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('v/token');
    await page.getByLabel('Name name').fill('web');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('alert').getByRole('link', { name: 'token' }).waitFor();
    expect([watch.violations, watch.pageErrors]).toEqual([[], []]);
    await page.close();
  });

  it('keep the line breaks of a key that is pasted into a field of one line, even when the form changes', async () => {
    const { page, watch } = await openPage(`/catalog/${template}/run`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
    await chooseEnvironment(page);
    const key = '-----BEGIN KEY-----\nabc\ndef\n-----END KEY-----\n';
    const paste = async (label: string, text: string) => {
      await page.getByLabel(label).focus();
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
      await page.keyboard.press('ControlOrMeta+V');
    };
    await paste('Name name', 'one line\n');
    expect(await page.getByLabel('Name name').evaluate(({ tagName }) => tagName)).toBe('INPUT');
    await page.getByLabel('Name name').fill('before ');
    await paste('Name name', key);
    await paste('token', key);
    expect(await page.getByLabel('token').evaluate((area) => area.matches('textarea[data-secret].secret'))).toBe(true);
    await page.getByText('optional variables').click();
    await page.getByRole('button', { name: 'Add an item to ports' }).click();
    await page.getByLabel('Item 1').fill('80');
    expect(await page.getByLabel('token').inputValue()).toBe(key);
    expect(await page.getByLabel('Name name').inputValue()).toBe(`before ${key}`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    expect((await admitted(page)).variables).toMatchObject({ name: `before ${key}` });
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('restore what was typed, without secrets, after the session has ended', async () => {
    const { page } = await openPage(`/catalog/${template}/run`);
    await chooseEnvironment(page);
    await page.getByLabel('Name name').fill('kept');
    await page.getByLabel('token').fill('a secret');
    await page.getByText('optional variables').click();
    await page.getByRole('button', { name: 'Add an item to ports' }).click();
    await page.getByLabel('Item 1').fill('8080');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByLabel('E-mail address').fill(tenant.owner.email);
    await page.getByLabel('Password').fill(testPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(() => page.getByLabel('Item 1').inputValue()).toBe('8080');
    expect(await page.getByLabel('Name name').inputValue()).toBe('kept');
    expect(await page.getByLabel('token').inputValue()).toBe('');
    await page.getByLabel('token').fill('a secret');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    expect((await admitted(page)).variables).toMatchObject({ name: 'kept', ports: [8080] });
    await page.close();
  });

  it('work without scripts, and move the focus to the part that has changed', async () => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await addSession(page, origin, tenant.owner);
    await page.goto(`${origin}/catalog/${template}/run?environment_id=${tenant.environment}`);
    await page.getByLabel('Name name').fill('plain');
    await page.getByText('optional variables').click();
    await page.getByRole('button', { name: 'Add an item to ports' }).click();
    expect(page.url()).toContain('#field-g_1b_ports');
    await page.getByLabel('Item 1').fill('22');
    await page.getByLabel('Kind of storage').selectOption('Bucket');
    await page.getByRole('button', { name: 'Show fields of storage' }).click();
    await page.getByLabel(/^bucket/).fill('logs');
    await page.getByLabel('token').fill('a secret');
    await page.getByLabel('Instance').fill('plain');
    await page.getByLabel('Instance').press('Enter');
    expect((await admitted(page)).variables).toMatchObject({
      ports: [22],
      storage: { kind: 'bucket', bucket: 'logs' },
    });
    await page.close();
  });

  // `npm run test:pages` looks at every page in every width and both colours.
  const looks = [
    { scheme: 'light', width: 1280 },
    { scheme: 'dark', width: 390 },
  ] as const;

  it('have no accessibility violation and fit, in both schemes and widths', async () => {
    const { page, watch } = await openPage('/catalog');
    const open = (path: string) => page.goto(`${origin}${path}`);
    const views: Record<string, () => Promise<unknown>> = {
      catalog: () => open('/catalog'),
      'nothing found': () => open('/catalog?q=nothing&tag=compute'),
      template: () => open(`/catalog/${template}`),
      version: () => open(`/catalog/${template}/versions/1.0.0`),
      yank: () => open(`/catalog/${template}/versions/1.0.0/yank`),
      delete: () => open(`/catalog/${template}/delete`),
      edit: () => open(`/catalog/${template}/edit`),
      publish: () => open(`/catalog/${template}/publish`),
      form: () => open(`/catalog/${template}/run`),
      'open form': async () => {
        await page.getByText('optional variables').click();
        for (const part of ['ports', 'servers', 'labels'])
          await page.getByRole('button', { name: new RegExp(`^Add .* to ${part}`) }).click();
        await page.getByLabel('Name 1').waitFor();
      },
      problems: async () => {
        await chooseEnvironment(page);
        await page.getByRole('button', { name: 'Run', exact: true }).click();
        await page.getByText('Enter a value.').first().waitFor();
      },
    };
    for (const [name, show] of Object.entries(views)) {
      await show();
      for (const { scheme, width } of looks) {
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
        await page.setViewportSize({ width, height: 800 });
        expect(await findAccessibilityFaults(page), `${name} ${scheme} ${width}`).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(width);
      }
    }
    expect({ ...watch, consoleErrors: [], failed: [] }).toEqual(nothing);
    await page.close();
  });
});
