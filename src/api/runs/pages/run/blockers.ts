import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import { renderSince } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import { findShareHolders } from '#domain/runs/steps/shares-store.ts';
import { getRun } from '../../operations.ts';
import type { RunVisit, ShownRun } from '../run-tab.ts';
import { describeWaiting } from './waiting.ts';

/** The page lists at most this many runs. */
const maxListed = 10;

/** When the run waits for its share of the pool: the runs that use this share, as far as the visitor may read them. */
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

/**
 * When another run occupies the instance: what that run waits for, so that nobody waits for a run that cannot go on by itself. Null if that
 * run does not wait or is hidden.
 */
export async function renderBlockerWait(visit: RunVisit, { waiting_on: waiting }: ShownRun): Promise<Html | null> {
  if (waiting?.code !== 'instance_busy' || typeof waiting.blocker !== 'string') return null;
  const blocker = await orNull(visit.read(getRun, { params: { id: waiting.blocker }, query: {} }));
  const words = blocker && describeWaiting(blocker);
  if (!blocker || !words) return null;
  return html`<section class="panel stack" aria-labelledby="blocker-wait"><h2 id="blocker-wait">The run that has the instance is waiting too</h2>
<p>${renderRunLink(blocker.id)} waits for ${words.short}. ${words.what} ${words.who}</p>
<p class="muted">It keeps the instance while it waits. If it is not needed, cancel it.</p></section>`;
}
