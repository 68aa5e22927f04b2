import type { z } from 'zod';
import type { Crumb } from '#api/web/components/page-head.ts';
import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { formsAbout } from '#api/web/forms/forms-about.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { ConnectionKind } from '#domain/connections/kinds/kinds.ts';
import { get } from '../operations.ts';
import type { ConnectionView, ListedConnectionView } from '../views.ts';

export type ListedConnection = z.input<typeof ListedConnectionView>;
export type ShownConnection = z.input<typeof ConnectionView>;
export type ConnectionVisit = Visit<{ id: string }>;

export const kindWords: Readonly<Record<ConnectionKind, string>> = {
  cloud: 'Cloud',
  generic: 'Variables and files',
  git: 'Git',
  kubernetes: 'Kubernetes',
  registry: 'Registry',
};

export function readShown(visit: ConnectionVisit): Promise<ShownConnection> {
  return visit.read(get, { params: { id: visit.params.id } });
}

export function connectionPath(
  { id }: { readonly id: string },
  done?: ConfirmationOf<typeof pages.connection>,
): LocalPath {
  return pagePath(pages.connection, { id }, { done });
}

export const connectionsCrumb: Crumb = { label: 'Connections', path: pagePath(pages.connections) };

export function connectionCrumbs(connection: ShownConnection): Crumb[] {
  return [connectionsCrumb, { label: connection.name, path: connectionPath(connection) }];
}

/** Declares a form about connections. */
export const connectionForm = formsAbout({ read: readShown, crumbs: connectionCrumbs, path: connectionPath });
