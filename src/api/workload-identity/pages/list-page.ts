import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { renderAction } from '#api/web/components/actions.ts';
import { renderStatusBadge, type StatusLook } from '#api/web/components/status.ts';
import type { Column } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { showList } from '#api/web/visit/list-page.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { configurationPath } from '#domain/workload-identity/discovery.ts';
import { type KeyView, list, rotate } from '../signing-key-operations.ts';

type ShownKey = z.input<typeof KeyView>;

const looks: Readonly<Record<ShownKey['status'], StatusLook>> = {
  upcoming: { word: 'Upcoming', icon: 'circle-dashed', tone: 'queued' },
  signing: { word: 'Signing', icon: 'circle-check', tone: 'succeeded' },
  retired: { word: 'Retired', icon: 'ban', tone: 'canceled' },
};

/** Shows the published keys with which the service signs the tokens of runs. */
export async function showSigningKeys(visit: Visit): Promise<FastifyReply> {
  const { signing_keys: keys } = await visit.read(list);
  const { issuer } = visit.context.services.config;
  return showList(visit, {
    title: 'Signing keys',
    below: 'The service uses these to sign the tokens with which runs authenticate to clouds.',
    page: pages.signingKeys,
    actions: renderAction(visit.mayDo(rotate), {
      label: 'New signing key',
      icon: 'refresh-cw',
      tone: 'primary',
      path: pagePath(pages.rotateSigningKeys),
    }),
    above: html`<p>${renderIssuer(issuer)}</p>`,
    rows: keys,
    columns,
    empty: ['No keys yet', 'A worker creates the first one when it starts.'],
  });
}

function renderIssuer(issuer: string | null): Html {
  if (issuer === null)
    return html`No tokens are issued: the service does not know its public URL. An operator sets <code>COORDINATOR_BASE_URL</code>.`;
  return html`Public keys are at <code>${issuer}${configurationPath}</code>.`;
}

const columns: readonly Column<ShownKey>[] = [
  { label: 'Key', kind: 'main', cell: ({ key_id: id }) => html`<code class="foreign">${id}</code>` },
  { label: 'Status', cell: ({ status }) => renderStatusBadge(looks[status]) },
  { label: 'Signs from', cell: ({ signs_from: at }) => renderTime(String(at)) },
  {
    label: 'Published until',
    cell: ({ published_until: at }) => (at ? renderTime(String(at)) : html`<span class="muted">not scheduled</span>`),
  },
];
