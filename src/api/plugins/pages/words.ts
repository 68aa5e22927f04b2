import type { z } from 'zod';
import type { Crumb } from '#api/web/components/page-head.ts';
import type { StatusLook } from '#api/web/components/status.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Selector, SubjectType } from '#domain/plugins/model.ts';
import { type Names, readNames } from '#domain/tenancy/names-store.ts';
import type { InstallationView, ListedInstallationView } from '../views.ts';

export type ListedPlugin = z.input<typeof ListedInstallationView>;
export type ShownPlugin = z.input<typeof InstallationView>;
export type PluginVisit = Visit<{ id: string }>;

export const pluginsCrumb: Crumb = { label: 'Plugins', path: pagePath(pages.plugins) };

export const inForce: StatusLook = { word: 'In force', icon: 'circle-check', tone: 'succeeded' };
export const ended: StatusLook = { word: 'Ended', icon: 'ban', tone: 'canceled' };
export const active: StatusLook = { word: 'Active', icon: 'circle-check', tone: 'succeeded' };
export const approved: StatusLook = { word: 'Approved', icon: 'circle-check', tone: 'succeeded' };
export const notApproved: StatusLook = { word: 'Not approved', icon: 'ban', tone: 'canceled' };
export const notDeclared: StatusLook = { word: 'Not declared', icon: 'ban', tone: 'canceled' };
export const stale: StatusLook = { word: 'Stale', icon: 'triangle-alert', tone: 'timed-out' };

export const subjectWords: Readonly<Record<SubjectType, string>> = {
  user: 'user',
  service_account: 'service account',
  background_principal: 'background principal',
};

/** The names of the places that selectors name, and of whoever assigned something. */
export function readPlaceNames(
  { em }: Visit<unknown>,
  selectors: readonly Selector[],
  principals: readonly string[] = [],
): Promise<Names> {
  const idsOf = (...types: readonly Selector['type'][]) =>
    selectors.filter(({ type }) => types.includes(type)).map(({ id }) => id);
  return readNames(em, {
    organizations: idsOf('organization', 'organization_descendants'),
    teams: idsOf('team'),
    projects: idsOf('project'),
    environments: idsOf('environment'),
    principals,
  });
}

/** A place: what it is, and its name. */
export function renderPlace({ type, id }: Selector, names: Names): Html {
  const name = html`<span class="foreign">${names.get(id)?.name ?? id}</span>`;
  if (type === 'organization') return html`organization ${name} alone`;
  if (type === 'organization_descendants') return html`organization ${name} and everything in it`;
  if (type === 'resource') return html`resource <code>${id}</code>`;
  return html`${type} ${name}`;
}
