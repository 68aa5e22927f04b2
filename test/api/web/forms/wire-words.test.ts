import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { Visitor } from '#test/support/browser/visitor.ts';
import { faultsOf } from '#test/support/pages/forms/faults.ts';
import { findForms, type ShownForm } from '#test/support/pages/forms/shown-form.ts';
import { findWireWords, problemTexts } from '#test/support/pages/forms/wire-words.ts';
import { declareAll } from '#test/support/pages/list/all-pages.ts';
import type { PersonKey } from '#test/support/pages/people.ts';
import { type Installation, seedInstallation } from '#test/support/pages/realistic-installation.ts';
import { readSeed } from '#test/support/seed.ts';

/**
 * Fills in the forms of a realistic installation wrongly. `npm test` does that to every third form, with all fields at once; `FORM_SEED` begins with
 * another one. `FORM_FAULTS=all` does it to every form, and with each field separately, and takes minutes.
 */

const isWhole = process.env['FORM_FAULTS'] === 'all';
const seed = readSeed('FORM_SEED');
const share = isWhole ? 1 : 3;

let api: TestApi;
let installation: Installation;
const visitors = new Map<PersonKey, Visitor>();

beforeAll(async () => {
  api = await startApi();
  installation = await seedInstallation(api);
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

const withoutIds = (path: string) => path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, ':id');
/** Forms with the same fields at the same kind of address are one form. */
const shapeOf = (who: string | null, { action, fields }: ShownForm) =>
  `${who} ${withoutIds(action)} ${fields.map(({ name }) => name)}`;

test('no form and no error page describes a problem in terms of the API', async () => {
  const found = new Set<string>();
  const seen = new Set<string>();
  const note = (where: string, { text, status }: { readonly text: string; readonly status: number }) => {
    for (const said of problemTexts(text, status))
      for (const word of findWireWords(said)) found.add(`${where}: ${word} in ${said.slice(0, 300)}`);
  };
  for (const { name, who, address } of declareAll(installation)) {
    const page = await (await visitorOf(who)).get(address);
    note(name, page);
    const forms = page.status === 200 ? findForms(page.text) : [];
    for (const form of forms.filter((each) => !seen.has(shapeOf(who, each)))) {
      seen.add(shapeOf(who, form));
      if ((seen.size + seed) % share !== 0) continue;
      for (const { fault, fields } of faultsOf(form, isWhole))
        note(`${name} with ${fault}`, await (await visitorOf(who)).submit(form.action, fields));
    }
  }
  expect([...found]).toEqual([]);
  expect(seen.size).toBeGreaterThan(120);
}, 1_800_000);
