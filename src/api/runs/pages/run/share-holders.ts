import { renderRunLink } from '#api/web/components/links/run-link.ts';
import { renderSince } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { listAllRuns } from '../../lists/list-operations.ts';
import type { RunVisit, ShownRun } from '../run-tab.ts';

/** So many of the runs are listed. */
const maxListed = 10;
const holding = ['running', 'canceling'];

/** The runs that hold the share of its pool for which a run waits, as far as the visitor may read them. */
export async function renderShareHolders(visit: RunVisit, run: ShownRun): Promise<Html | null> {
  const { waiting_on: waiting, pool, team_id: team, requested_by: by } = run;
  if (waiting?.code !== 'pool_share' || !waiting.share) return null;
  const ofPerson = waiting.share === 'person';
  const query = {
    status: holding,
    limit: '100',
    ...(ofPerson ? { scope: 'readable', requested_by: by.id } : team === null ? {} : { team_id: team }),
  };
  const { runs } = await visit.read(listAllRuns, { params: {}, query });
  const holders = runs.filter((each) => each.pool === pool && each.waiting_on === null).slice(0, maxListed);
  if (holders.length === 0) return null;
  const lines = holders.map(
    ({ id, instance, started_at: start }) =>
      html`<li>${renderRunLink(id)} of <span class="foreign">${instance}</span>${start && html`, <span class="muted">running ${renderSince(start)}</span>`}</li>`,
  );
  return html`<section class="panel stack" aria-labelledby="share-holders"><h2 id="share-holders">Runs that have the slots of ${ofPerson ? 'the requester' : 'the team'}</h2><ul>${lines}</ul>
<p class="muted">Each of them ends by the time limit of its template at the latest.</p></section>`;
}
