import type { FastifyReply } from 'fastify';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { get } from '../operations.ts';
import type { ShownRecord } from '../views.ts';
import { renderOutcome } from './audit-page.ts';
import { auditPath } from './filters.ts';
import { renderRecordChanges } from './record-changes.ts';
import { readResourceNames, renderResource } from './resource-names.ts';

/** Shows one record: who did it, on which resource, and the values before and after. */
export async function showRecord(visit: Visit<{ id: string }>): Promise<FastifyReply> {
  const record = await visit.read(get, { params: { id: visit.params.id } });
  const { organization_id: organizationId, team_id: teamId, resource } = record;
  const names = await readNames(visit.em, { organizations: [organizationId], teams: [teamId] });
  const resourceNames = await readResourceNames(visit, [record]);
  const nameOf = (id: string | null) =>
    id === null ? null : html`<span class="foreign">${names.get(id)?.name ?? id}</span>`;
  return visit.show({
    title: record.action,
    main: html`<div class="page page-wide">
${renderPageHead({
  title: record.action,
  crumbs: [{ label: 'Audit', path: pagePath(pages.audit) }],
  beside: renderOutcome(record.outcome),
  history: resource.id ? [resource.type, resource.id] : null,
})}
<div class="panel">${renderFacts([
      ['Time', renderTime(record.at)],
      ['Actor', renderActor(record)],
      ['Credential', renderCredential(record, resourceNames)],
      ['Resource', renderResource(record, resourceNames)],
      ['Resource ID', resource.id && html`<code class="foreign">${resource.id}</code>`],
      ['Organization', nameOf(organizationId)],
      ['Team', nameOf(teamId)],
      [
        'Request',
        record.request_id &&
          html`<a href="${auditPath({ request_id: record.request_id })}"><code>${record.request_id}</code></a>`,
      ],
      ['IP address', record.address],
      ['Record ID', html`<code>${record.id}</code>`],
    ])}</div>
<h2>What changed</h2>
${renderRecordChanges(record) ?? html`<p class="muted">${record.outcome === 'refused' ? 'Nothing, because it was denied.' : 'The record has no values.'}</p>`}
</div>`,
  });
}

function renderCredential({ credential }: ShownRecord, names: ReadonlyMap<string, string>): Html | null {
  if (credential === null) return null;
  const name = names.get(credential.id);
  return html`${credential.type.replaceAll('_', ' ')} ${name && html`<span class="foreign">${name}</span> `}<code>${credential.id}</code>`;
}

function renderActor({ actor }: ShownRecord): Html {
  const name = html`<span class="foreign">${actor.name}</span>`;
  const kind = html`<span class="muted">${actor.type.replaceAll('_', ' ')}</span>`;
  if (actor.id === null) return html`${name} ${kind}`;
  return html`${name} ${kind} · <a href="${auditPath({ actor: actor.id })}">All actions by this actor</a>`;
}
