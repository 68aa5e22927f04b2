import { list } from '#api/schedules/operations.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';

/** The owner of the schedules: one team, or all teams of an organization. */
export type ScheduleScope = { readonly team_id: string } | { readonly organization_id: string };

/** The number of schedules that a form names. A link leads to the others. */
const maxNamed = 20;

/**
 * Names the schedules that start work as a member, and what happens to them; null if the visitor can read none. A visitor who may end a
 * membership can read the schedules of its teams.
 * @param consequence such as "cannot start their work any more"
 */
export async function renderSchedulesOf(
  visit: Visit,
  scope: ScheduleScope,
  { userId, consequence }: { readonly userId: string; readonly consequence: string },
): Promise<Html | null> {
  if (!visit.mayDo(list).allowed) return null;
  const query = { ...scope, authority_id: userId, limit: String(maxNamed) };
  const { schedules, next_cursor: cursor } = await visit.read(list, { query });
  if (schedules.length === 0) return null;
  const links = schedules.map(
    ({ id, name }) => html`<li><a class="foreign" href="${pagePath(pages.schedule, { id })}">${name}</a></li>`,
  );
  const all = pagePath(pages.schedules, {}, { authority_id: userId });
  return html`<p>These schedules run as this member, and ${consequence} until another person saves it with “Change work”:</p><ul>${links}${cursor === null ? null : html`<li><a href="${all}">All of them</a></li>`}</ul>`;
}
