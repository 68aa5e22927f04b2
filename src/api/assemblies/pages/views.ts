import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { type LocalPath, pagePath, pages, type Query } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { AssemblyOperation } from '#domain/assemblies/model.ts';
import { readNames } from '#domain/tenancy/names.ts';
import type { diff } from '../diff-operations.ts';
import type { getDraft, validate } from '../draft-operations.ts';
import type { list as listNodes } from '../node-operations.ts';
import { get, type list } from '../operations.ts';
import type { getRun, listEvents, listRuns } from '../run-operations.ts';
import type { get as getVersion, list as listVersions } from '../version-operations.ts';

/** The API's views of assemblies, their versions and their runs. */

export type ShownAssembly = EncodedAnswerOf<(typeof get)['responses']>;
export type ListedAssembly = EncodedAnswerOf<(typeof list)['responses']>['assemblies'][number];
export type ShownVersion = EncodedAnswerOf<(typeof getVersion)['responses']>;
export type ListedVersion = EncodedAnswerOf<(typeof listVersions)['responses']>['versions'][number];
export type ShownDiff = EncodedAnswerOf<(typeof diff)['responses']>;
export type ShownDraft = EncodedAnswerOf<(typeof getDraft)['responses']>;
export type ShownReport = EncodedAnswerOf<(typeof validate)['responses']>;
export type ShownAssemblyRun = EncodedAnswerOf<(typeof getRun)['responses']>;
export type ListedAssemblyRun = EncodedAnswerOf<(typeof listRuns)['responses']>['assembly_runs'][number];
export type ShownNode = EncodedAnswerOf<(typeof listNodes)['responses']>['nodes'][number];
export type ShownEvent = EncodedAnswerOf<(typeof listEvents)['responses']>['events'][number];

export type AssemblyVisit = Visit<{ id: string }>;
export type AssemblyRunVisit = Visit<{ id: string; runID: string }>;

/** An assembly with the name of its team. */
export interface AssemblySubject extends ShownAssembly {
  readonly teamName: string;
}

export async function readAssembly(visit: AssemblyVisit): Promise<AssemblySubject> {
  const assembly = await visit.read(get, { params: { id: visit.params.id } });
  const names = await readNames(visit.em, { teams: [assembly.team_id] });
  return { ...assembly, teamName: names.get(assembly.team_id)?.name ?? 'Team' };
}

export function assemblyPath({ id }: { readonly id: string }, done?: ConfirmationOf<typeof pages.assembly>): LocalPath {
  return pagePath(pages.assembly, { id }, { done });
}

export function assemblyTabPath(id: string, tab: string, query: Query = {}): LocalPath {
  return pagePath(pages.assembly, { id }, { tab, ...query });
}

/** The pages above those of an assembly. */
export function assemblyCrumbs(assembly: { readonly id: string; readonly name: string }) {
  return [
    { label: 'Assemblies', path: pagePath(pages.assemblies) },
    { label: assembly.name, path: assemblyPath(assembly) },
  ];
}

/** What each operation does, in the words of forms. */
export const operationLabels: Readonly<Record<AssemblyOperation, string>> = {
  apply: 'Apply: plan, then change',
  plan: 'Plan only: change nothing',
  destroy: 'Destroy, in reverse order',
};

/** The operation of an assembly run, as a verb before the name of its assembly. */
export const operationWords: Readonly<Record<AssemblyOperation, string>> = {
  apply: 'Apply',
  destroy: 'Destroy',
  plan: 'Plan only',
};
