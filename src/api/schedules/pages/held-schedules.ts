import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { countHeldSchedules, type Holder } from '#domain/schedules/views/held-schedules-store.ts';
import { list } from '../operations.ts';

/** Says which schedules lose their authority when an account, a session or a key ends. */
export type HeldNote = (id: string, consequence: { readonly one: string; readonly many: string }) => Html | null;

/**
 * Counts the schedules that depend on these accounts or credentials, as far as the visitor may read them. The returned function makes a
 * sentence about one of them, with a link: the number of schedules, and the consequence. It returns null if there are none, or if the
 * visitor may not list them.
 */
export async function readHeld(visit: Visit, holder: Holder, ids: readonly string[]): Promise<HeldNote> {
  const mayList = visit.mayDo(list).allowed;
  const counts = mayList ? await countHeldSchedules(visit.em, visit.principal, holder, ids) : new Map<string, number>();
  return (id, { one, many }) => {
    const count = counts.get(id);
    if (count === undefined) return null;
    const path = pagePath(pages.schedules, {}, { [holder]: id });
    return html`<a href="${path}">${pluralize(count, 'schedule')}</a> ${count === 1 ? one : many}`;
  };
}

/** The lead of a form about one account or credential, followed by a paragraph about its schedules. */
export async function readHeldLead(
  visit: Visit,
  lead: Html | string,
  [holder, id]: readonly [holder: Holder, id: string],
): Promise<Html> {
  const note = (await readHeld(visit, holder, [id]))(id, heldBy[holder]);
  return html`${typeof lead === 'string' ? html`<p>${lead}</p>` : lead}${note ? html`<p>${note}</p>` : null}`;
}

/** The consequences for schedules when an account or a key ends. */
const heldBy = {
  authority_id: {
    one: 'runs as this account, and starts nothing without it. Have another person save the work first.',
    many: 'run as this account, and start nothing without it. Have another person save their work first.',
  },
  credential_id: {
    one: 'was saved with this key, and starts nothing when it ends. Save the work with another credential first.',
    many: 'were saved with this key, and start nothing when it ends. Save their work with another credential first.',
  },
} as const;

/** A link to the schedules that run under the authority of a user or a service account; null if the visitor can read none. */
export async function renderHeldLink(visit: Visit, principalId: string): Promise<Html | null> {
  return (await readHeld(visit, 'authority_id', [principalId]))(principalId, { one: '', many: '' });
}
