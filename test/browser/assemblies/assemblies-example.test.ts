import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks } from '#test/docs/markdown.ts';
import { findBrowser, launchBrowser } from '#test/support/browser/browser.ts';
import { runShell } from '#test/support/programs/shell.ts';
import { type System, startSystem } from '#test/support/system.ts';

/** The steps "The same in the browser" of docs/assemblies.md, with a worker, by keyboard alone. */

let system: System;
let browser: Browser;
let page: Page;

const ana = { email: 'ana@example.com', name: 'Ana', role: 'maintainer', password: 'correct horse battery' };

describe.skipIf(findBrowser() === null)('the example of the page about assemblies, in a browser', () => {
  beforeAll(async () => {
    [system, browser] = await Promise.all([startSystem(), launchBrowser()]);
    await makeTemplates();
    page = await browser.newPage();
    page.setDefaultTimeout(30_000);
    await page.goto(`${system.url}/login`);
    await page.getByLabel('E-mail address').fill(ana.email);
    await page.getByLabel('Password').fill(ana.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1 }).waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  it('creates, runs, approves, repairs, resumes and destroys an assembly with the names on the page', {
    timeout: 240_000,
  }, async () => {
    await follow('Assemblies');
    await follow('New assembly');
    await choose('Team', 'Core');
    await type('Name', 'Shop');
    await follow('Create assembly');
    await type('Draft', draft());
    await page.getByText('Valid: it can be published').waitFor();
    await page.keyboard.press('Escape');
    await follow('Save and publish…');
    await type('Version', '1.0.0');
    await follow('Publish');

    await follow('Run');
    await choose('Environment', 'Lab');
    await follow('Run');
    await approve('Approve and apply');
    await page.getByText('Nodes failed.').waitFor({ timeout: 90_000 });
    const address = page.url();

    await follow('Log of smoke-test');
    await page
      .getByText(/SHOP_KEY: is missing/)
      .first()
      .waitFor();
    await follow('Environments');
    await follow('Lab');
    await follow('Variables');
    await follow('Add a variable');
    await type('Name', 'SHOP_KEY');
    await choose('Type', 'Environment variable');
    await type('Value', 'correct');
    await follow('Save');
    await page.getByText('SHOP_KEY').first().waitFor();
    await page.goto(address);
    await follow('Resume');
    await follow('Resume the run');
    await page.getByText('4 of 4 nodes done').waitFor({ timeout: 90_000 });
    await page.locator('h1 ~ .status', { hasText: 'Succeeded' }).waitFor();

    await follow('Run again');
    await choose('Operation', 'Destroy');
    await type('Type Shop to confirm', 'Shop');
    await follow('Run');
    await approve('Approve and destroy');
    await page.locator('h1 ~ .status', { hasText: 'Succeeded' }).waitFor({ timeout: 90_000 });
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('Destroy: Shop');
  });
});

/** Runs the commands that make the place and the templates. */
async function makeTemplates(): Promise<void> {
  expect((await system.administrator.post('/users', ana)).status).toBe(201);
  const { email, password } = ana;
  const session = await system.administrator.post('/auth/sessions', { email, password });
  const [place] = codeBlocks('docs/access.md').filter(({ info }) => info === 'sh place');
  const [templates] = exampleBlocks();
  const input = `${place?.text}${templates}`.replaceAll('http://127.0.0.1:8080', system.url);
  const { code, errors } = await runShell(['-eu'], { TOKEN: session.body.token }, { shell: 'sh', input });
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
}

function exampleBlocks(): string[] {
  return codeBlocks('docs/assemblies.md').flatMap(({ info, text }) => (info === 'sh example' ? [text] : []));
}

/** The spec that the commands save. */
function draft(): string {
  const spec = /draft -d '\{"spec": ([\s\S]*?)\}'\n/.exec(exampleBlocks()[1] ?? '')?.[1];
  if (spec === undefined) throw new Error('the example of docs/assemblies.md saves no draft');
  return spec;
}

/** Approves the plan of the node that waits, and goes back to the run of the assembly. */
async function approve(button: string): Promise<void> {
  await page.getByText('One node needs approval').waitFor({ timeout: 90_000 });
  const address = page.url();
  await follow('Review the plan of api');
  await follow(button);
  await page.getByText('You approved this plan.').waitFor();
  await page.goto(address);
}

/** Goes to a link or a button by Tab, and presses Enter. */
async function follow(name: string): Promise<void> {
  const target = page.getByRole('link', { name, exact: true }).or(page.getByRole('button', { name, exact: true }));
  await target.first().waitFor();
  await tabTo((focused) => focused.name === name && focused.isFollowed, name);
  await page.keyboard.press('Enter');
}

async function type(label: string, text: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).first().waitFor();
  await tabTo((focused) => focused.label === label, label);
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(text);
}

/** Chooses in a list by the beginning of the option's name, as a keyboard does. */
async function choose(label: string, option: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).first().waitFor();
  await tabTo((focused) => focused.label === label, label);
  await page.keyboard.type(option);
}

interface Focused {
  readonly name: string;
  readonly label: string;
  readonly isFollowed: boolean;
}

async function tabTo(isIt: (focused: Focused) => boolean, name: string): Promise<void> {
  const seen: string[] = [];
  for (let presses = 0; presses < 90; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<Focused>(describeFocus);
    if (isIt(focused)) return;
    seen.push(focused.label || focused.name);
  }
  throw new Error(`Tab did not reach ${name} at ${page.url()}, but ${seen.join(' | ')}`);
}

const describeFocus = `(() => {
  const element = document.activeElement;
  const text = (part) => (part?.textContent ?? '').replace(/\\s+/g, ' ').trim();
  const label = [...(element.labels ?? [])].map((each) => text(each.querySelector('.label') ?? each)).join(' ')
    || (element.matches('textarea') && element.getAttribute('aria-label')) || '';
  return { name: element.getAttribute('aria-label') ?? text(element), label, isFollowed: element.matches('a, button, summary') };
})()`;
