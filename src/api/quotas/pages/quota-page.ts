import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { get } from '../operations.ts';
import type { QuotaParams } from '../views.ts';
import { kindLabels, type ListedQuota, nameOwner, renderUsage } from './labels.ts';

export type QuotaVisit = Visit<{ scope: string; ownerID: string }>;

/** The scope and the id in the address. The operation refuses a scope that does not exist. */
export function paramsOf({ params }: QuotaVisit): z.output<typeof QuotaParams> {
  return { scope: params.scope, id: params.ownerID } as z.output<typeof QuotaParams>;
}

export const crumbs = [{ label: 'Quotas', path: pagePath(pages.quotas) }];

/** Shows the quota of one owner and everything that it uses. */
export async function showQuotaPage(visit: QuotaVisit): Promise<FastifyReply> {
  const quota = await visit.read(get, { params: paramsOf(visit) });
  const { scope, id, limits, usage, actions } = quota;
  const title = `Quota: ${nameOwner(quota)}`;
  const problem =
    limits === null ? 'The quota cannot be read, and allows nothing. Set its limits, or remove it.' : null;
  const used = usage.map((use) => [kindLabels[use.kind], renderUsage(use)] as const);
  const changed = quota.updated_at === null ? 'no quota of its own' : renderTime(String(quota.updated_at));
  return visit.show({
    title,
    main: html`<div class="page">
${renderPageHead({
  title,
  crumbs,
  below: await renderLimited(visit, quota),
  history: ['quotas', id],
  actions: renderActions(actions, {
    set: { label: 'Set limits', tone: 'primary', path: pagePath(pages.editQuota, { scope, ownerID: id }) },
    recount: { label: 'Recount', path: pagePath(pages.recountQuota, { scope, ownerID: id }) },
    clear: {
      label: 'Remove',
      icon: 'trash-2',
      tone: 'danger',
      path: pagePath(pages.clearQuota, { scope, ownerID: id }),
    },
  }),
})}
${renderConfirmation(visit, pages.quota)}
${problem ? html`<p class="notice notice-problem">${problem}</p>` : null}
<div class="panel">${renderFacts([...used, ['Changed', changed]])}</div>
</div>`,
  });
}

/** Says whom the quota limits, with a link; null for the installation, which has no page. */
async function renderLimited(
  visit: QuotaVisit,
  { scope, id, name }: Pick<ListedQuota, 'scope' | 'id' | 'name'>,
): Promise<Html | null> {
  if (scope === 'installation') return null;
  if (scope === 'environment')
    return html`Limits the environment <a class="foreign" href="${pagePath(pages.environment, { id })}">${name ?? id}</a>.`;
  const owner = { organization_id: null, team_id: null, project_id: null, [`${scope}_id`]: id };
  return html`Limits the ${renderOwner(owner, await readOwnerNames(visit, [owner]))}.`;
}
