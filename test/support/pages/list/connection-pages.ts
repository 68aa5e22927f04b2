import { pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

/** The pages of connections. */
export function connectionPages({ connections, environments, projects }: Installation): DeclaredPage[] {
  const who = 'owner';
  const params = { id: connections.aws };
  const environment = { id: environments.networkProduction.id };
  const project = { id: projects['network']?.id ?? '' };
  return [
    declare('environment-connections', pages.environment, {
      params: environment,
      who,
      query: { tab: 'connections' },
      isPictured: true,
    }),
    declare('environment-connections-viewer', pages.environment, {
      params: environment,
      who: 'viewer',
      query: { tab: 'connections' },
    }),
    declare('environment-connection-bind', pages.bindEnvironmentConnection, { params: environment, who }),
    declare('environment-connection-change', pages.bindEnvironmentConnection, {
      params: environment,
      who,
      query: { name: 'aws' },
    }),
    declare('environment-connection-unbind', pages.unbindEnvironmentConnection, {
      params: { ...environment, name: 'aws' },
      who,
    }),
    declare('project-connection-bind', pages.bindProjectConnection, { params: project, who }),
    declare('project-connection-unbind', pages.unbindProjectConnection, {
      params: { ...project, name: 'monitoring' },
      who,
    }),
    declare('connections', pages.connections, { who, isPictured: true }),
    declare('connections-empty', pages.connections, { who: 'fjordOwner' }),
    declare('connections-refused', pages.connections, { who: 'viewer', answers: 403 }),
    declare('connection', pages.connection, { params, who }),
    declare('connection-generic', pages.connection, { params: { id: connections.monitoring }, who }),
    declare('connection-of-strangers', pages.connection, { params, who: 'fjordOwner', answers: 404 }),
    declare('connection-new', pages.newConnection, { who }),
    declare('connection-new-aws', pages.newConnection, { who, query: { of: 'aws' }, isPictured: true }),
    declare('connection-new-git', pages.newConnection, { who, query: { of: 'git-ssh' } }),
    declare('connection-new-kubernetes', pages.newConnection, { who, query: { of: 'kubernetes' } }),
    declare('connection-rename', pages.renameConnection, { params, who }),
    declare('connection-settings', pages.configureConnection, { params, who }),
    declare('connection-rotate', pages.rotateConnection, { params, who }),
    declare('connection-rotate-generic', pages.rotateConnection, { params: { id: connections.monitoring }, who }),
    declare('connection-test', pages.testConnection, { params, who }),
    declare('connection-delete', pages.deleteConnection, { params, who }),
  ];
}
