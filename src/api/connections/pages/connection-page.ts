import type { FastifyReply } from 'fastify';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderNews } from '#api/web/components/news.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import { countPlaces } from '#domain/connections/bindings/store.ts';
import { kindOf } from '#domain/connections/kinds/kinds.ts';
import { type ConnectionVisit, connectionsCrumb, kindWords, readShown, type ShownConnection } from './words.ts';

/** Shows what a connection opens and provides. No page shows its credentials. */
export async function showConnection(visit: ConnectionVisit): Promise<FastifyReply> {
  const connection = await readShown(visit);
  const [names, places] = await Promise.all([
    readOwnerNames(visit, [connection]),
    countPlaces(visit.em, visit.principal, connection.id),
  ]);
  const { id, name, kind, config, provides, credential_revision: revision } = connection;
  return visit.show({
    title: name,
    main: html`<div class="page page-wide">
${renderPageHead({
  title: name,
  crumbs: [connectionsCrumb],
  below: html`Of ${renderOwner(connection, names)}`,
  actions: renderButtons(connection),
  history: ['connections', id],
})}
${renderNews(visit, pages.connection)}
<div class="panel">${renderFacts([
      ['Kind', `${kindWords[kind]}: ${kindOf(kind).summary}`],
      ...Object.entries(config).map(([field, value]): [string, Html] => [field, renderSetting(value)]),
      ['Provides', html`<span class="mono foreign">${provides.length > 0 ? provides.join(', ') : 'nothing'}</span>`],
      [
        'Credentials',
        html`set ${renderTime(String(connection.credentials_set_at))}, for the ${ordinal(revision)} time`,
      ],
      [
        'Bound by',
        places === 0
          ? 'nothing that you may read'
          : pluralize(places, 'project or environment', 'projects and environments'),
      ],
      ['Created', renderTime(String(connection.created_at))],
      ['Id', html`<code>${id}</code>`],
    ])}</div>
</div>`,
  });
}

function renderSetting(value: unknown): Html {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return html`<span class="mono foreign pre">${text}</span>`;
}

function ordinal(count: number): string {
  const last = count % 10;
  const isTeen = Math.floor(count / 10) % 10 === 1;
  const ending = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][last] ?? 'th');
  return `${count}${ending}`;
}

function renderButtons({ id, actions }: ShownConnection): Html {
  const [update] = actions.filter(({ name }) => name === 'update');
  return html`${renderActions(actions, {
    test: { label: 'Test', icon: 'rocket', tone: 'primary', path: pagePath(pages.testConnection, { id }) },
    rotate: { label: 'Rotate', icon: 'key-round', path: pagePath(pages.rotateConnection, { id }) },
    update: { label: 'Change settings', icon: 'pencil', path: pagePath(pages.configureConnection, { id }) },
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteConnection, { id }) },
  })}${update?.allowed ? html` <a class="button" href="${pagePath(pages.renameConnection, { id })}">Rename</a>` : null}`;
}
