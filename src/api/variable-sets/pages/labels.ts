import type { z } from 'zod';
import type { Crumb } from '#api/web/components/page-head.ts';
import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { formsAbout } from '#api/web/forms/forms-about.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { get } from '../operations.ts';
import type { ListedVariableSetView, VariableSetView } from '../views.ts';

export type ListedSet = z.input<typeof ListedVariableSetView>;
export type ShownSet = z.input<typeof VariableSetView>;
export type SetVisit = Visit<{ id: string }>;

export function readSet(visit: SetVisit): Promise<ShownSet> {
  return visit.read(get, { params: { id: visit.params.id } });
}

export function setPath({ id }: { readonly id: string }, done?: ConfirmationOf<typeof pages.variableSet>): LocalPath {
  return pagePath(pages.variableSet, { id }, { done });
}

export const setsCrumb: Crumb = { label: 'Variable sets', path: pagePath(pages.variableSets) };

export function setCrumbs(set: ShownSet): Crumb[] {
  return [setsCrumb, { label: set.name, path: setPath(set) }];
}

/** The page of a project or an environment to which a set is attached. */
export function placePath({ type, id }: { readonly type: 'project' | 'environment'; readonly id: string }): LocalPath {
  return type === 'project'
    ? pagePath(pages.project, { id })
    : pagePath(pages.environment, { id }, { tab: 'variables' });
}

/** Declares a form about variable sets. */
export const setForm = formsAbout({ read: readSet, crumbs: setCrumbs, path: setPath });
