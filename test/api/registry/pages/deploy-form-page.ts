import { randomUUID } from 'node:crypto';
import { idOf } from '#api/web/forms/schema/slots.ts';
import { wordsOf } from '#test/support/browser/page-text.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

/** The page with the form that deploys an instance: what it shows, and how a browser sends it. */

/** The changes to the deployed values. */
export const differencesOn = (page: string) => wordsOf(/id="differences".*?<\/section>/s.exec(page)?.[0]);

/** The hint at the field of a variable. */
export const hintAt = (page: string, name: string) =>
  wordsOf(new RegExp(`class="field-hint" id="${idOf(`v/${name}`)}-hint">.*?</div>`, 's').exec(page)?.[0]);

/** The label of the field of a variable. */
export const labelOf = (page: string, name: string) =>
  wordsOf(new RegExp(`<label for="${idOf(`v/${name}`)}">.*?</label>`, 's').exec(page)?.[0]);

/** What the page says that it has compared. The form sends it back. */
export const comparedBy = (page: string) => /name="compared" value="([^"]*)"/.exec(page)?.[1] ?? '';

/** Sends the form as that of version 1.0.0, unless the fields say otherwise. */
export function sendForm(visitor: Visitor, address: string, fields: Record<string, string>) {
  const always = { shown: '1.0.0', version: '1.0.0', operation: 'apply', key: randomUUID() };
  return visitor.submit(address, { ...always, ...fields });
}
