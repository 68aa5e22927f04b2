import type { Html } from '#api/web/html.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import type { Names } from '#domain/tenancy/names.ts';
import type { AssemblyRunVisit, ShownAssembly, ShownAssemblyRun } from '../views.ts';

/** An assembly run, with the related facts that its page shows. */
export interface RunSubject {
  readonly run: ShownAssemblyRun;
  readonly assembly: ShownAssembly;
  readonly names: Names;
}

export interface AssemblyRunTab {
  readonly key: string;
  readonly label: string;
  readonly render: (visit: AssemblyRunVisit, subject: RunSubject) => Promise<Html>;
  readonly scripts?: readonly string[];
}

/** A part of the page of an assembly run. */
export function runPath(
  { id, assembly_id: assembly }: Pick<ShownAssemblyRun, 'id' | 'assembly_id'>,
  query: Query = {},
) {
  return pagePath(pages.assemblyRun, { id: assembly, runID: id }, query);
}
