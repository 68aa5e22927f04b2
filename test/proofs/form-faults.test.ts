import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { type PageAnswer, Visitor } from '#test/support/browser/visitor.ts';
import { faultsOf } from '#test/support/pages/forms/faults.ts';
import { listOpenChoices } from '#test/support/pages/forms/open-choices.ts';
import { findForms, type ShownForm } from '#test/support/pages/forms/shown-form.ts';
import { findWireWords, problemTexts } from '#test/support/pages/forms/wire-words.ts';
import { declareAll } from '#test/support/pages/list/all-pages.ts';
import type { DeclaredPage } from '#test/support/pages/list/declared-page.ts';
import type { PersonKey } from '#test/support/pages/people.ts';
import { type Installation, seedInstallation } from '#test/support/pages/realistic-installation.ts';
import { readSeed } from '#test/support/seed.ts';

/**
 * Opens every page of a realistic installation, and fills in the forms of these pages wrongly. `npm run test:proofs` does that to every form, with
 * all fields at once and with each field separately, which takes minutes. `npm test` does it to every eighth form, with all fields at once;
 * `PROOFS_SEED` begins with another one.
 */

const isAll = process.env['PROOFS'] === 'all';
const seed = readSeed('PROOFS_SEED');
const share = isAll ? 1 : 8;

let api: TestApi;
let installation: Installation;
let opened: readonly Opened[];
const visitors = new Map<PersonKey, Visitor>();

/** A declared page with what it answered before any form was sent. */
interface Opened {
  readonly page: DeclaredPage;
  readonly answer: PageAnswer;
}

beforeAll(async () => {
  api = await startApi({ COORDINATOR_REQUESTS_PER_PRINCIPAL: '0' });
  installation = await seedInstallation(api);
  const pages: Opened[] = [];
  for (const page of declareAll(installation))
    pages.push({ page, answer: await (await visitorOf(page.who)).get(page.address) });
  opened = pages;
});
afterAll(() => api?.close());

async function visitorOf(who: PersonKey | null): Promise<Visitor> {
  if (who === null) return new Visitor(api.app);
  const known = visitors.get(who);
  // A form that was sent may have ended the session.
  if (known?.cookie) return known;
  const visitor = await signInVisitor(api, installation.people[who]);
  visitors.set(who, visitor);
  return visitor;
}

test('every page answers as declared, with fields of a single choice preselected', () => {
  const wrong = opened.flatMap(({ page: { name, answers }, answer: { status, text } }) => [
    ...(status === answers ? [] : [`${name} answers ${status} instead of ${answers}`]),
    ...listOpenChoices(text).map((field) => `${name} has one choice of ${field}, and has not chosen it`),
  ]);
  expect(wrong).toEqual([]);
});

test(`no form and no error page describes a problem in terms of the API (seed ${seed})`, async () => {
  const found = new Set<string>();
  const note = (where: string, { text, status }: { readonly text: string; readonly status: number }) => {
    for (const said of problemTexts(text, status))
      for (const word of findWireWords(said)) found.add(`${where}: ${word} in ${said.slice(0, 300)}`);
  };
  for (const { page, answer } of opened) note(page.name, answer);
  const shown = differentForms();
  expect(shown.length).toBeGreaterThan(120);
  for (const [index, { page, shape }] of shown.entries()) {
    if ((index + 1 + seed) % share !== 0) continue;
    // Another form may have changed what the page is about.
    const { text } = await (await visitorOf(page.who)).get(page.address);
    const form = findForms(text).find((each) => shapeOf(page.who, each) === shape);
    for (const { fault, fields } of form ? faultsOf(form, isAll) : [])
      note(`${page.name} with ${fault}`, await (await visitorOf(page.who)).submit(form?.action ?? '', fields));
  }
  expect([...found]).toEqual([]);
}, 1_800_000);

/** The forms of the pages. Those with the same fields at the same kind of address are one form. */
function differentForms(): { page: DeclaredPage; shape: string }[] {
  const shown = new Map<string, DeclaredPage>();
  for (const { page, answer } of opened) {
    if (answer.status !== 200) continue;
    for (const form of findForms(answer.text)) {
      const shape = shapeOf(page.who, form);
      if (!shown.has(shape)) shown.set(shape, page);
    }
  }
  return [...shown].map(([shape, page]) => ({ page, shape }));
}

const withoutIds = (path: string) => path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, ':id');

function shapeOf(who: string | null, { action, fields }: ShownForm): string {
  return `${who} ${withoutIds(action)} ${fields.map(({ name }) => name)}`;
}
