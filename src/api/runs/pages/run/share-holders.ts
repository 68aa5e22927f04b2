import { renderRunLink } from '#api/web/components/links/run-link.ts';
import { renderSince } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { findShareHolders } from '#domain/runs/steps/shares-store.ts';
import type { RunVisit, ShownRun } from '../run-tab.ts';

/** The page lists at most this many runs. */
const maxListed = 10;

/** The runs that hold the share of its pool for which a run waits, as far as the visitor may read them. */
export async function renderShareHolders(visit: RunVisit, run: ShownRun): Promise<Html | null> {
  const { id: runId, waiting_on: waiting, team_id: team } = run;
  if (waiting?.code !== 'pool_share' || !waiting.share) return null;
  const { share } = waiting;
  const holders = await findShareHolders(visit.em, visit.principal, { runId, share, max: maxListed });
  if (holders.length === 0) return null;
  const lines = holders.map(
    ({ id, instance, startedAt: start }) =>
      html`<li>${renderRunLink(id)} of <span class="foreign">${instance}</span>${start && html`, <span class="muted">running ${renderSince(new Date(start).toISOString())}</span>`}</li>`,
  );
  const whose = share === 'person' ? 'the requester' : team === null ? 'runs without a team' : 'the team';
  return html`<section class="panel stack" aria-labelledby="share-holders"><h2 id="share-holders">Runs that have the slots of ${whose}</h2><ul>${lines}</ul>
<p class="muted">Each of them ends by the time limit of its template at the latest.</p></section>`;
}
