import type { FastifyReply } from 'fastify';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { type Fact, renderFacts } from '#api/web/components/facts.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { kindOf } from '#domain/connections/kinds/kinds.ts';
import { renderBoundPlaces } from './bound-places.ts';
import { type ConnectionVisit, connectionsCrumb, kindWords, readShown, type ShownConnection } from './labels.ts';
import { configSchema, labelsOf, type Variant, variantOf } from './variants.ts';

/** Shows what a connection gives access to and provides. No page shows its credentials. */
export async function showConnection(visit: ConnectionVisit): Promise<FastifyReply> {
  const connection = await readShown(visit);
  const names = await readOwnerNames(visit, [connection]);
  const { id, name, provides, credential_revision: revision } = connection;
  return visit.show({
    title: name,
    main: html`<div class="page page-wide">
${renderPageHead({
  title: name,
  crumbs: [connectionsCrumb],
  below: html`Owned by ${renderOwner(connection, names)}`,
  actions: renderButtons(connection),
  history: ['connections', id],
})}
${renderConfirmation(visit, pages.connection)}
<div class="panel">${renderFacts([
      ...settingFacts(connection),
      ['Provides', html`<span class="mono foreign">${provides.length > 0 ? provides.join(', ') : 'nothing'}</span>`],
      [
        'Credentials',
        html`set ${renderTime(String(connection.credentials_set_at))}, for the ${ordinal(revision)} time`,
      ],
      ['Bound by', await renderBoundPlaces(visit, connection)],
      ['Created', renderTime(String(connection.created_at))],
      ['Id', html`<code>${id}</code>`],
    ])}</div>
</div>`,
  });
}

/** What the connection gives access to, with the labels of the form. The provider is left out, because the kind names it. */
function settingFacts(connection: ShownConnection): Fact[] {
  const variant = variantOf(connection);
  const labels = labelsOf(configSchema(variant));
  const settings = Object.entries(connection.config).filter(([name]) => name !== 'provider');
  return [
    ['Kind', describeVariant(variant)],
    ...settings.map(([name, value]): Fact => [labels[name] ?? name, renderSetting(value)]),
  ];
}

/** The name of a variant. The general label of clouds lists all providers, so it is left out. */
function describeVariant({ kind, label, provider }: Variant): string {
  return provider === undefined ? `${label}: ${kindOf(kind).summary}` : `${kindWords[kind]}: ${label}`;
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

/** The buttons. One operation both renames a connection and changes its settings, so both have the same condition. */
function renderButtons({ id, actions }: ShownConnection): Html {
  const renames = actions.filter(({ name, allowed }) => name === 'update' && allowed);
  return renderActions([...actions, ...renames.map((each) => ({ ...each, name: 'rename' }))], {
    test: { label: 'Test', icon: 'rocket', tone: 'primary', path: pagePath(pages.testConnection, { id }) },
    rotate: { label: 'Rotate', icon: 'key-round', path: pagePath(pages.rotateConnection, { id }) },
    update: { label: 'Change settings', icon: 'pencil', path: pagePath(pages.configureConnection, { id }) },
    rename: { label: 'Rename', path: pagePath(pages.renameConnection, { id }) },
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteConnection, { id }) },
  });
}
