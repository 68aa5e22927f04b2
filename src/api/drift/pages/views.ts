import { placedName, renderInstanceLink } from '#api/web/components/links/resource-links.ts';
import { formsAbout } from '#api/web/forms/forms-about.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { get as getFinding } from '../finding-operations.ts';
import { get as getMonitor } from '../monitor-operations.ts';
import type { FindingAlone, MonitorAlone, ShownMonitor } from './labels.ts';

/** A monitor with the name of the thing that it watches. */
export type MonitorSubject = MonitorAlone & { readonly name: string };
/** A finding with the names of its instance and of the environment. */
export type FindingSubject = FindingAlone & { readonly names: Names };

export const driftCrumb = { label: 'Drift', path: pagePath(pages.drift) };

type Place = Pick<ShownMonitor, 'instance_id' | 'environment_id' | 'template_id' | 'scope'>;

/** Reads the names of the things that monitors watch. */
export function readWatchedNames(visit: Visit<unknown>, places: readonly Place[]): Promise<Names> {
  return readNames(visit.em, {
    instances: places.map((each) => each.instance_id),
    environments: places.map((each) => each.environment_id),
    templates: places.map((each) => each.template_id),
  });
}

/** The name of the thing that a monitor watches. */
export function nameOf({ scope, ...place }: Place, names: Names): string {
  const id = place[`${scope}_id`] ?? '';
  const named = names.get(id);
  return named ? placedName(named) : id;
}

/** A link to the thing that a monitor watches. */
export function renderPlace({ scope, ...place }: Place, names: Names): Html {
  const id = place[`${scope}_id`] ?? '';
  if (scope === 'instance') return renderInstanceLink(id, names);
  const path = { environment: pages.environment, template: pages.template }[scope];
  return html`<a class="foreign" href="${pagePath(path, { id })}">${names.get(id)?.name ?? id}</a>`;
}

export async function readMonitor(visit: Visit<{ id: string }>): Promise<MonitorSubject> {
  const monitor = await visit.read(getMonitor, { params: { id: visit.params.id } });
  return { ...monitor, name: nameOf(monitor, await readWatchedNames(visit, [monitor])) };
}

export function monitorPath(id: string): LocalPath {
  return pagePath(pages.driftMonitor, { id });
}

export function monitorCrumbs({ id, name }: Pick<MonitorSubject, 'id' | 'name'>) {
  return [driftCrumb, { label: `Monitor of ${name}`, path: monitorPath(id) }];
}

export async function readFinding(visit: Visit<{ id: string }>): Promise<FindingSubject> {
  const finding = await visit.read(getFinding, { params: { id: visit.params.id } });
  return { ...finding, names: await readNames(visit.em, { instances: [finding.instance_id] }) };
}

/** The instance of a finding, and its environment, in words. */
export function instanceOf({ instance_id: id, names }: Pick<FindingSubject, 'instance_id' | 'names'>): string {
  return nameOf({ scope: 'instance', instance_id: id, environment_id: null, template_id: null }, names);
}

export function findingPath(id: string): LocalPath {
  return pagePath(pages.driftFinding, { id });
}

/** The subject of a finding, as a title. */
export function titleOf({ address, path }: Pick<FindingAlone, 'address' | 'path'>): string {
  return path === '' ? address : `${address}: ${path}`;
}

export function findingCrumbs(finding: Pick<FindingSubject, 'id' | 'address' | 'path'>) {
  return [driftCrumb, { label: titleOf(finding), path: findingPath(finding.id) }];
}

/** Declares a form about monitors. */
export const monitorForm = formsAbout({
  read: readMonitor,
  crumbs: monitorCrumbs,
  path: ({ id }) => monitorPath(id),
});

/** Declares a form about findings. */
export const findingForm = formsAbout({
  read: readFinding,
  crumbs: findingCrumbs,
  path: ({ id }) => findingPath(id),
});
