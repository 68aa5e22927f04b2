import type { z } from 'zod';
import { get as getEnvironment } from '#api/environments/operations.ts';
import { get as getProject } from '#api/projects/operations.ts';
import { environmentCrumbs } from '#api/tenancy/pages/views.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { NamedBindings } from '../binding-bodies.ts';
import { getOfEnvironment, getOfProject, replaceOfEnvironment, replaceOfProject } from '../binding-operations.ts';
import type { BindingsView } from '../binding-views.ts';

export type ShownBindings = z.input<typeof BindingsView>;
export type Wanted = z.input<typeof NamedBindings>;
type PlaceVisit = Visit<{ id: string }>;

/** A project or an environment, with its owners. */
export interface BindingPlace {
  readonly kind: 'project' | 'environment';
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  readonly teamId: string;
  readonly projectId: string;
}

/** The differences between the bindings of projects and those of environments. */
export interface BindingPages {
  readonly bind: typeof pages.bindProjectConnection | typeof pages.bindEnvironmentConnection;
  readonly unbind: typeof pages.unbindProjectConnection | typeof pages.unbindEnvironmentConnection;
  readPlace(visit: PlaceVisit): Promise<BindingPlace>;
  readBindings(visit: Visit, id: string): Promise<ShownBindings>;
  replace(visit: Visit, id: string, wanted: Wanted): Promise<unknown>;
  /** The page that lists the bindings. */
  back(id: string, done?: 'bound' | 'unbound'): LocalPath;
}

export const bindingPages: Readonly<Record<BindingPlace['kind'], BindingPages>> = {
  project: {
    bind: pages.bindProjectConnection,
    unbind: pages.unbindProjectConnection,
    readPlace: async (visit) => {
      const { id, name, organization_id, team_id } = await visit.read(getProject, { params: { id: visit.params.id } });
      return { kind: 'project', id, name, organizationId: organization_id, teamId: team_id, projectId: id };
    },
    readBindings: (visit, id) => visit.read(getOfProject, { params: { id } }),
    replace: (visit, id, body) => visit.run(replaceOfProject, { params: { id }, body }),
    back: (id, done) => pagePath(pages.project, { id }, { done }),
  },
  environment: {
    bind: pages.bindEnvironmentConnection,
    unbind: pages.unbindEnvironmentConnection,
    readPlace: async (visit) => {
      const environment = await visit.read(getEnvironment, { params: { id: visit.params.id } });
      const { id, name, organization_id, team_id, project_id } = environment;
      return {
        kind: 'environment',
        id,
        name,
        organizationId: organization_id,
        teamId: team_id,
        projectId: project_id,
      };
    },
    readBindings: (visit, id) => visit.read(getOfEnvironment, { params: { id } }),
    replace: (visit, id, body) => visit.run(replaceOfEnvironment, { params: { id }, body }),
    back: (id, done) => pagePath(pages.environment, { id }, { tab: 'connections', done }),
  },
};

export function placeCrumbs({ kind, id, name }: BindingPlace): Crumb[] {
  if (kind === 'environment') return environmentCrumbs({ id, name });
  return [
    { label: 'Projects', path: pagePath(pages.projects) },
    { label: name, path: pagePath(pages.project, { id }) },
  ];
}
