import type { z } from 'zod';
import { renderTeamLink } from '#api/web/components/links/resource-links.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import type { StatusLook } from '#api/web/components/status.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Selector, SelectorType } from '#domain/plugins/model.ts';
import { findReadable } from '#domain/plugins/places/place-store.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import type { InstallationView, ListedInstallationView } from '../installation-views.ts';
import type { ActionView, ListedBackgroundPrincipalView, ListedGrantView } from '../views.ts';

export type ListedPlugin = z.input<typeof ListedInstallationView>;
export type ShownPlugin = z.input<typeof InstallationView>;
export type ShownAction = z.input<typeof ActionView>;
export type ShownPrincipal = z.input<typeof ListedBackgroundPrincipalView>;
export type ShownGrant = z.input<typeof ListedGrantView>;
export type PluginVisit = Visit<{ id: string }>;

export const pluginsCrumb: Crumb = { label: 'Plugins', path: pagePath(pages.plugins) };

export const inForce: StatusLook = { word: 'In force', icon: 'circle-check', tone: 'succeeded' };
export const ended: StatusLook = { word: 'Ended', icon: 'ban', tone: 'canceled' };
export const active: StatusLook = { word: 'Active', icon: 'circle-check', tone: 'succeeded' };
export const approved: StatusLook = { word: 'Approved', icon: 'circle-check', tone: 'succeeded' };
export const notApproved: StatusLook = { word: 'Not approved', icon: 'ban', tone: 'canceled' };
export const notDeclared: StatusLook = { word: 'Not declared', icon: 'ban', tone: 'canceled' };
export const stale: StatusLook = { word: 'Stale', icon: 'triangle-alert', tone: 'timed-out' };

/** The names of kinds of principals, in assignments and in records. */
export const subjectWords: Readonly<Record<string, string>> = {
  user: 'user',
  service_account: 'service account',
  background_principal: 'background principal',
  background: 'background principal',
};

/** The words before and after the name of a place. */
const placeWords: Readonly<Record<SelectorType, readonly [before: string, after: string]>> = {
  resource: ['resource', ''],
  environment: ['environment', ''],
  project: ['project', ''],
  team: ['team', ''],
  organization: ['organization', ' alone'],
  organization_descendants: ['organization', ' and everything in it'],
};

/** The types of places at which an action can be assigned: "team, one resource". */
export function describeSelectors(selectors: readonly SelectorType[]): string {
  return selectors.map((type) => (type === 'resource' ? 'one resource' : placeWords[type].join(''))).join(', ');
}

/** Reads the names of places in selectors, as far as the visitor may read them, and of the principals who made assignments. */
export async function readPlaceNames(
  { em, principal }: Visit<unknown>,
  selectors: readonly Selector[],
  principals: readonly (string | null)[] = [],
): Promise<Names> {
  const readable = await findReadable(em, principal, selectors);
  const idsOf = (...types: readonly Selector['type'][]) =>
    readable.filter(({ type }) => types.includes(type)).map(({ id }) => id);
  return readNames(em, {
    organizations: idsOf('organization', 'organization_descendants'),
    teams: idsOf('team'),
    projects: idsOf('project'),
    environments: idsOf('environment'),
    plugin_resources: idsOf('resource'),
    principals,
  });
}

/** The type of a place, and its name as a link to its page. */
export function renderPlace(place: Selector, names: Names): Html {
  const { type, id } = place;
  if (type === 'team') return sayPlace(type, renderTeamLink(id, names));
  return sayPlace(type, html`<a class="foreign" href="${pathOf(type, id)}">${names.get(id)?.name ?? id}</a>`);
}

/** A place in words, with its name inserted: "organization Acme alone". */
export function sayPlace(type: SelectorType, name: Html): Html {
  const [before, after] = placeWords[type];
  return html`${before} ${name}${after}`;
}

function pathOf(type: Exclude<SelectorType, 'team'>, id: string): LocalPath {
  if (type === 'project') return pagePath(pages.project, { id });
  if (type === 'environment') return pagePath(pages.environment, { id });
  if (type === 'resource') return pagePath(pages.pluginResource, { id });
  return pagePath(pages.organization, { orgID: id });
}

/** When something happened, and by whom, if known. */
export function renderMoment(at: unknown, by: string | null, names: Names): Html {
  return html`${renderTime(String(at))}${by && html` by ${renderPerson(by, names)}`}`;
}

/** The name of somebody who did something. */
export function renderPerson(id: string, names: Names): Html {
  return html`<span class="foreign">${names.get(id)?.name ?? id}</span>`;
}
