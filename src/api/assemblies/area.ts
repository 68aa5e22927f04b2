import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as diffs from './diff-operations.ts';
import * as drafts from './draft-operations.ts';
import * as graphs from './graph/graph-operations.ts';
import * as nodes from './node-operations.ts';
import * as assemblies from './operations.ts';
import { showAssembly } from './pages/assembly/overview.ts';
import { showVersion } from './pages/assembly/version-page.ts';
import { showDraft, submitDraft } from './pages/draft/draft-page.ts';
import { showPublish, submitPublish } from './pages/draft/publish-page.ts';
import { assemblyForms } from './pages/forms.ts';
import { showAssemblies } from './pages/list-page.ts';
import { streamAssemblyRunChanges } from './pages/run/run-changes.ts';
import { assemblyRunForms } from './pages/run/run-forms.ts';
import { redirectToAssemblyRun, showAssemblyRun } from './pages/run/run-page.ts';
import { showStart, submitStart } from './pages/start/start-page.ts';
import * as runs from './run-operations.ts';
import * as versions from './version-operations.ts';

/** A draft of 1 MiB, in which each character may be written as three. */
const maxDraftFormBytes = 4 * 1024 * 1024;

export const area: Area = {
  operations: [assemblies, graphs, drafts, versions, runs, nodes, diffs],
  tags: {
    assemblies: 'Graphs of templates that are run together: drafts, versions, comparisons.',
  },
  pages: [
    page('GET', pages.assemblies, showAssemblies),
    ...assemblyForms,
    page('GET', pages.assembly, showAssembly),
    page('GET', pages.assemblyVersion, showVersion),
    page('GET', pages.assemblyDraft, showDraft),
    page('POST', pages.assemblyDraft, submitDraft, { bodyLimit: maxDraftFormBytes }),
    page('GET', pages.publishAssembly, showPublish),
    page('POST', pages.publishAssembly, submitPublish),
    page('GET', pages.runAssembly, showStart),
    page('POST', pages.runAssembly, submitStart),
    page('GET', pages.assemblyRun, showAssemblyRun),
    page('GET', pages.assemblyRunByID, redirectToAssemblyRun),
    page('GET', pages.assemblyRunChanges, streamAssemblyRunChanges),
    ...assemblyRunForms,
  ],
  navigation: [
    { group: 'Workloads', label: 'Assemblies', icon: 'workflow', path: pages.assemblies, operation: 'assemblies.list' },
  ],
};
